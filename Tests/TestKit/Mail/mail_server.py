"""An SMTP server on loopback that prints each mail as a line of JSON, and answers as it is told to."""

import argparse
import asyncio
import email
import email.header
import email.policy
import json
import re
import ssl

from aiosmtpd.smtp import SMTP, AuthResult

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--certificate", help="a PEM file, for STARTTLS")
parser.add_argument("--key")
parser.add_argument("--tls", action="store_true", help="TLS from the first byte")
parser.add_argument("--user")
parser.add_argument("--password")
parser.add_argument("--mechanism", help="the only one, PLAIN or LOGIN")
parser.add_argument("--at", choices=["HELO", "AUTH", "MAIL", "RCPT", "DATA"], default="DATA", help="where --answers are given")
parser.add_argument("--answers", default="", help="one for each mail, separated by commas; then they are taken")
parser.add_argument("--stall", action="store_true", help="take a mail and never answer")
parser.add_argument("--delay", type=float, default=0, help="seconds before the greeting, and before a mail is taken")
options = parser.parse_args()
answers = [answer for answer in options.answers.split(",") if answer]


def say(**what):
    print(json.dumps(what), flush=True)


def parsed(content):
    message = email.message_from_bytes(content, policy=email.policy.default)
    older = email.message_from_bytes(content)
    parts = [part for part in message.walk() if not part.is_multipart()]
    return {
        "headers": {name: str(value) for name, value in message.items()},
        "names": [name for name, _ in message.items()],
        # The newer parser puts a space between two encoded words of a name.
        "sender name": str(email.header.make_header(email.header.decode_header(older["From"] or ""))),
        "parts": {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in parts},
        "order": [part.get_content_type() for part in parts],
        "boundary": message.get_boundary(),
        "encodings": [str(part["Content-Transfer-Encoding"]) for part in parts],
        "odd line breaks": any(re.search(rb"(?<!\r)\n|\r(?!\n)", part.get_payload(decode=True)) for part in parts),
        "defects": [str(defect) for part in message.walk() for defect in part.defects],
    }


def refusal(at):
    if at != options.at or not answers:
        return None
    answer = answers.pop(0)
    return None if answer.startswith("250") else answer


class Handler:
    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        say(hello=hostname)
        answer = refusal("HELO")
        return [answer] if answer else responses

    async def handle_HELO(self, server, session, envelope, hostname):
        session.host_name = hostname
        return "550 no" if options.at == "HELO" else "250 ok"

    async def handle_MAIL(self, server, session, envelope, address, mail_options):
        answer = refusal("MAIL")
        if answer is None:
            envelope.mail_from = address
        return answer or "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        answer = refusal("RCPT")
        if answer is None:
            envelope.rcpt_tos.append(address)
        return answer or "250 OK"

    async def handle_DATA(self, server, session, envelope):
        content = envelope.original_content
        answer = refusal("DATA")
        say(
            mail="refused" if answer else "taken",
            sender=envelope.mail_from,
            recipients=envelope.rcpt_tos,
            secured=options.tls or session.ssl is not None,
            user=session.auth_data,
            longest=max(len(line) for line in content.split(b"\r\n")),
            raw=content.decode("utf-8"),
            **parsed(content),
        )
        if options.stall:
            await asyncio.sleep(3600)
        await asyncio.sleep(options.delay)
        return answer or "250 OK"


class Server(SMTP):
    async def _handle_client(self):
        await asyncio.sleep(options.delay)
        await super()._handle_client()


def authenticate(server, session, envelope, mechanism, data):
    given = (data.login.decode(), data.password.decode())
    say(login=mechanism)
    answer = refusal("AUTH")
    if answer:
        return AuthResult(success=False, handled=False, message=answer)
    if given == (options.user, options.password):
        return AuthResult(success=True, auth_data=options.user)
    return AuthResult(success=False, handled=False)


async def main():
    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    others = {"LOGIN", "PLAIN"} - {options.mechanism} if options.mechanism else None

    def make():
        return Server(
            Handler(),
            hostname="mail.test",
            enable_SMTPUTF8=True,
            tls_context=None if options.tls else context,
            require_starttls=context is not None and not options.tls,
            auth_required=options.user is not None,
            auth_require_tls=not options.tls,
            auth_exclude_mechanism=others,
            authenticator=authenticate if options.user else None,
            loop=asyncio.get_running_loop(),
        )

    server = await asyncio.get_running_loop().create_server(
        make, "127.0.0.1", options.port, ssl=context if options.tls else None
    )
    say(port=server.sockets[0].getsockname()[1])
    await server.serve_forever()


asyncio.run(main())
