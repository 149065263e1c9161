import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import Requests

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why one attempt failed, and whether the request may have reached the other service.
struct FailedAttempt: Error {
    let reason: OutboundError
    let beforeSending: Bool

    init(_ reason: OutboundError, beforeSending: Bool = false) {
        self.reason = reason
        self.beforeSending = beforeSending
    }
}

extension OutboundLane {
    func perform(
        _ request: OutboundRequest,
        url: String,
        userAgent: String,
        limits: OutboundLimits
    ) async throws(FailedAttempt) -> OutboundResponse {
        var outgoing = HTTPClientRequest(url: url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headers where field.name != .userAgent && field.name != .acceptEncoding {
            outgoing.headers.add(name: field.name.rawName, value: field.value)
        }
        outgoing.headers.add(name: "User-Agent", value: userAgent)
        // Without the field, any coding is acceptable (RFC 9110 §12.5.3), and none is read.
        outgoing.headers.add(name: "Accept-Encoding", value: "identity")
        if let trace = RequestContext.current.trace {
            outgoing.headers.replaceOrAdd(name: "traceparent", value: trace.parent())
            if request.sharesTraceState, let state = trace.state {
                outgoing.headers.replaceOrAdd(name: "tracestate", value: state)
            }
        }
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        let limit = min(request.maximumResponseSize ?? .max, limits.maximumResponseSize)
        do {
            let response = try await client.execute(outgoing, timeout: TimeAmount(limits.total))
            if request.ignoresBody {
                // A small one is read, so that the connection can be used again.
                let isRead = (try? await read(response, limit: limit)) != nil
                if !isRead, Task.isCancelled { throw FailedAttempt(.cancelled) }
                return Self.response(response, body: [])
            }
            return try await read(response, limit: limit)
        } catch let failure as FailedAttempt {
            throw failure
        } catch {
            throw Self.failure(error)
        }
    }

    private func read(_ response: HTTPClientResponse, limit: Int) async throws -> OutboundResponse {
        let coding = response.headers["content-encoding"].joined(separator: ",")
        guard coding.isEmpty || coding.lowercased() == "identity" else { throw FailedAttempt(.malformedResponse) }
        if let length = response.headers.first(name: "content-length").flatMap({ Int($0) }), length > limit {
            throw FailedAttempt(.tooLarge)
        }
        var body: [UInt8] = []
        for try await part in response.body {
            guard body.count + part.readableBytes <= limit else { throw FailedAttempt(.tooLarge) }
            body.append(contentsOf: part.readableBytesView)
        }
        return Self.response(response, body: body)
    }

    private static func response(_ response: HTTPClientResponse, body: [UInt8]) -> OutboundResponse {
        var headers = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        return OutboundResponse(status: Int(response.status.code), headers: headers, body: body)
    }

    private static func failure(_ error: any Error) -> FailedAttempt {
        switch error {
        case let error as HTTPClientError where error == .connectTimeout || error == .tlsHandshakeTimeout:
            FailedAttempt(.timedOut, beforeSending: true)
        case let error as HTTPClientError
        where [.readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout].contains(error):
            FailedAttempt(.timedOut)
        case let error as HTTPClientError where error == .cancelled || error == .alreadyShutdown:
            FailedAttempt(.cancelled)
        case is CancellationError:
            FailedAttempt(.cancelled)
        case let error as HTTPParserError where error == .invalidEOFState:
            FailedAttempt(.unreachable)
        case is HTTPParserError:
            FailedAttempt(.malformedResponse)
        case let error as IOError:
            FailedAttempt(
                .unreachable,
                beforeSending: [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH].contains(error.errnoCode)
            )
        case is NIOConnectionError:
            FailedAttempt(.unreachable, beforeSending: true)
        default:
            FailedAttempt(.unreachable)
        }
    }
}
