import AsyncAlgorithms
package import Foundation
package import Logging
import NIOSSL
import ServiceLifecycle
import Synchronization

/// The certificate and key for TLS; the files are read again when they change.
///
/// Existing connections keep the old certificate; new ones get the new one. Files that do not match, such as during a
/// replacement, change nothing until they do.
package final class ServerTLS: Service {
    /// Both in PEM; the server's certificate comes first, then the intermediate ones.
    package struct Files: Sendable, Hashable {
        package var certificate: String
        package var key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Why the files cannot be used.
    package enum Unusable: Error, Hashable, CustomStringConvertible {
        case unreadable(String)
        case noCertificate(String)
        case noKey(String)
        /// The key does not match the certificate.
        case unrelated

        package var description: String {
            switch self {
            case .unreadable(let path): "\(path) cannot be read"
            case .noCertificate(let path): "\(path) contains no certificate in PEM"
            case .noKey(let path): "\(path) contains no private key in PEM, or one with a passphrase"
            case .unrelated: "the key does not match the certificate"
            }
        }
    }

    /// The content of the files at one time.
    package struct Pair: Sendable {
        fileprivate let contents: Contents
        let context: NIOSSLContext
        /// The expiry of the first certificate.
        package let expiresAt: Date

        package init(_ files: Files) throws(Unusable) { try self.init(files, Contents(files)) }

        fileprivate init(_ files: Files, _ contents: Contents) throws(Unusable) {
            self.contents = contents
            guard let chain = try? NIOSSLCertificate.fromPEMBytes(contents.certificate),
                let end = chain.map(\.notValidAfter).min()
            else { throw .noCertificate(files.certificate) }
            expiresAt = Date(timeIntervalSince1970: Double(end))
            guard let key = try? NIOSSLPrivateKey(bytes: contents.key, format: .pem) else { throw .noKey(files.key) }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            guard let context = try? NIOSSLContext(configuration: configuration) else { throw .unrelated }
            self.context = context
        }
    }

    fileprivate struct Contents: Sendable, Equatable {
        let certificate: [UInt8]
        let key: [UInt8]

        init(_ files: Files) throws(Unusable) {
            func read(_ path: String) throws(Unusable) -> [UInt8] {
                guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path) }
                return [UInt8](data)
            }
            certificate = try read(files.certificate)
            key = try read(files.key)
        }
    }

    private struct State {
        var pair: Pair
        /// The failure that was already logged.
        var failure: Unusable?
    }

    private let files: Files
    private let logger: Logger
    private let state: Mutex<State>

    package init(_ files: Files, logger: Logger) throws(Unusable) {
        self.files = files
        self.logger = logger
        state = Mutex(State(pair: try Pair(files)))
    }

    /// For a new connection.
    var context: NIOSSLContext { state.withLock { $0.pair.context } }

    /// Checks every ten seconds until stopped.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(10), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks { renew() }
    }

    /// Loads the files if they have changed and are usable.
    package func renew() {
        do throws(Unusable) {
            let contents = try Contents(files)
            guard contents != state.withLock({ $0.pair.contents }) else { return state.withLock { $0.failure = nil } }
            let pair = try Pair(files, contents)
            state.withLock { $0 = State(pair: pair) }
            logger.notice("Loaded a new certificate", metadata: ["tls.expires": "\(pair.expiresAt.ISO8601Format())"])
        } catch {
            let isKnown = state.withLock { state in
                defer { state.failure = error }
                return state.failure == error
            }
            if !isKnown {
                logger.error("Kept the old certificate: the new one is not valid", metadata: ["error": "\(error)"])
            }
        }
    }
}
