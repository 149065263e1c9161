"""A TLS front of `identity dev`, which answers to the names of this machine alone: tls_front.py CERTIFICATE KEY HOST:PORT

It listens on 127.0.0.1:443 and says "ready".
"""

import http.client
import http.server
import ssl
import sys

CERTIFICATE, KEY, TARGET = sys.argv[1:]


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        target = http.client.HTTPConnection(TARGET)
        target.request(self.command, self.path, body, {**self.headers, "Host": TARGET})
        answer = target.getresponse()
        content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        target.close()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 443), Front)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("ready", flush=True)
server.serve_forever()
