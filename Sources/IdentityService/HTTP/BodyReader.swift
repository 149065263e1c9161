import HTTPTypes
import Hummingbird
import NIOCore

/// Reads a request's body whole, up to ``Call/maximumBody``.
enum BodyReader {
    /// The connection broke, or what came over it is no HTTP.
    struct ConnectionFailure: Error {
        let underlying: any Error
    }

    /// Empty for methods that have none here: a body of `GET` or `DELETE` is ignored.
    static func read(_ request: Request) async throws -> ByteBuffer {
        guard request.method == .post || request.method == .patch || request.method == .put else { return ByteBuffer() }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > Call.maximumBody { throw WireError.tooLarge }
        do {
            let body = try await request.body.collect(upTo: Call.maximumBody)
            // A read that was cancelled ends like a body that is complete.
            try Task.checkCancellation()
            if let length, length != body.readableBytes {
                throw WireError.invalidRequest("Incomplete body.", field: nil)
            }
            return body
        } catch is NIOTooManyBytesError {
            throw WireError.tooLarge
        } catch let error as WireError {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ConnectionFailure(underlying: error)
        }
    }
}
