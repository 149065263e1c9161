import AsyncAlgorithms
package import Foundation
package import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Synchronization
import SystemCrypto
import X509

/// The certificates and keys for TLS; the files are read again when they change.
///
/// A client that names a host (SNI, RFC 6066 §3) gets the folder's certificate for it; every other one gets the usual
/// certificate. Existing connections keep the old certificate; new ones get the new one. Files that do not match, such as
/// during a replacement, change nothing until they do.
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
        fileprivate let chain: [NIOSSLCertificateSource]
        fileprivate let key: NIOSSLPrivateKeySource
        /// The expiry of the first certificate to expire.
        package let expiresAt: Date
        /// The DNS names of the server's certificate, lowercase; `*.example.com` is one.
        package let names: Set<String>

        package init(_ files: Files) throws(Unusable) { try self.init(files, Contents(files)) }

        fileprivate init(_ files: Files, _ contents: Contents) throws(Unusable) {
            self.contents = contents
            guard let chain = try? NIOSSLCertificate.fromPEMBytes(contents.certificate), let first = chain.first,
                let end = chain.map(\.notValidAfter).min()
            else { throw .noCertificate(files.certificate) }
            self.chain = chain.map { .certificate($0) }
            expiresAt = Date(timeIntervalSince1970: Double(end))
            names = first.dnsNames
            guard let key = try? NIOSSLPrivateKey(bytes: contents.key, format: .pem) else { throw .noKey(files.key) }
            self.key = .privateKey(key)
            guard (try? context()) != nil else { throw .unrelated }
        }

        /// - Parameter choose: the certificate for the host that a client names; nil for this one.
        fileprivate func context(
            choosing choose: (@Sendable (_ host: String) -> Pair?)? = nil
        ) throws -> NIOSSLContext {
            var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let choose {
                configuration.sslContextCallback = { client, answer in
                    var change = NIOSSLContextConfigurationOverride.noChanges
                    if let pair = client.serverHostname.flatMap(choose) {
                        (change.certificateChain, change.privateKey) = (pair.chain, pair.key)
                    }
                    answer.succeed(change)
                }
            }
            return try NIOSSLContext(configuration: configuration)
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

    /// Files, what they contained when they were last usable, and the failure that was already logged.
    private struct Slot {
        let files: Files
        var pair: Pair?
        var failure: Unusable?

        /// Loads the files if they have changed and are usable.
        mutating func renew(_ logger: Logger) {
            do throws(Unusable) {
                let contents = try Contents(files)
                if contents != pair?.contents {
                    let new = try Pair(files, contents)
                    pair = new
                    logger.notice(
                        "Loaded a new certificate",
                        metadata: ["file": "\(files.certificate)", "tls.expires": "\(new.expiresAt.ISO8601Format())"]
                    )
                }
                failure = nil
            } catch {
                let words =
                    pair == nil
                    ? "A certificate is not valid" : "Kept the old certificate: the new one is not valid"
                if failure != error {
                    logger.error("\(words)", metadata: ["file": "\(files.certificate)", "error": "\(error)"])
                }
                failure = error
            }
        }
    }

    private struct State {
        var usual: Slot
        var context: NIOSSLContext
        /// By the name of the folder.
        var others: [String: Slot] = [:]
    }

    private let folder: String?
    private let logger: Logger
    private let state: Mutex<State>
    private let choice: Choice

    /// The folder's certificates by their names, which the contexts look up.
    private final class Choice: Sendable {
        let pairs = Mutex<[String: Pair]>([:])

        func pair(for host: String) -> Pair? {
            let pairs = pairs.withLock { $0 }
            return pairs.isEmpty ? nil : ServerTLS.names(for: host).lazy.compactMap { pairs[$0] }.first
        }
    }

    /// - Parameter folder: of further certificates, each in a folder of its own (``files(in:)``).
    /// - Throws: if the usual files cannot be used, or the folder cannot be read. Without one of the others, its hosts get
    ///   the usual certificate.
    package init(_ files: Files, folder: String? = nil, logger: Logger) throws(Unusable) {
        (self.folder, self.logger) = (folder, logger)
        let pair = try Pair(files)
        let choice = Choice()
        self.choice = choice
        guard let context = try? pair.context(choosing: choice.pair) else { throw .unrelated }
        state = Mutex(State(usual: Slot(files: files, pair: pair), context: context))
        if let folder { try renewOthers(in: Self.files(in: folder)) }
    }

    /// The certificates below a folder, by the names of their own folders.
    ///
    /// Each contains `fullchain.pem` and `privkey.pem`, as in Certbot's `/etc/letsencrypt/live`. Other entries do not count.
    package static func files(in folder: String) throws(Unusable) -> [String: Files] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadable(folder)
        }
        let found = names.map { name in
            (name, Files(certificate: "\(folder)/\(name)/fullchain.pem", key: "\(folder)/\(name)/privkey.pem"))
        }
        return Dictionary(found.filter { FileManager.default.fileExists(atPath: $0.1.certificate) }) { first, _ in first
        }
    }

    /// The names of certificates that are good for a host: its own, and the wildcard for its first label (RFC 6125
    /// §6.4.3).
    package static func names(for host: String) -> [String] {
        let host = host.lowercased()
        return [host] + (host.firstIndex(of: ".").map { ["*" + host[$0...]] } ?? [])
    }

    /// For a new connection.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Checks every ten seconds until stopped.
    package func run() async throws {
        let ticks = AsyncTimerSequence(interval: .seconds(10), clock: .continuous).cancelOnGracefulShutdown()
        for await _ in ticks { renew() }
    }

    /// Loads the files that have changed and are usable.
    package func renew() {
        var usual = state.withLock { $0.usual }
        let before = usual.pair?.contents
        usual.renew(logger)
        let context = usual.pair?.contents == before ? nil : try? usual.pair?.context(choosing: choice.pair)
        state.withLock { [usual] state in
            state.usual = usual
            if let context { state.context = context }
        }
        // A folder that cannot be read for a moment takes no certificate away.
        if let folder, let files = try? Self.files(in: folder) { renewOthers(in: files) }
    }

    private func renewOthers(in files: [String: Files]) {
        let known = state.withLock { $0.others }
        var slots: [String: Slot] = [:]
        for (name, files) in files.sorted(by: { $0.key < $1.key }) {
            var slot = known[name] ?? Slot(files: files)
            slot.renew(logger)
            slots[name] = slot
        }
        state.withLock { [slots] in $0.others = slots }
        let pairs = slots.values.compactMap(\.pair).flatMap { pair in pair.names.map { ($0, pair) } }
        // Of two for one host, the one that is valid for longer.
        let chosen = Dictionary(pairs) { $0.expiresAt < $1.expiresAt ? $1 : $0 }
        choice.pairs.withLock { $0 = chosen }
    }
}

extension NIOSSLCertificate {
    fileprivate var dnsNames: Set<String> {
        guard let bytes = try? toDERBytes(), let certificate = Certificate(der: bytes),
            let names = try? certificate.extensions.subjectAlternativeNames
        else { return [] }
        return Set(names.compactMap { if case .dnsName(let name) = $0 { name.lowercased() } else { nil } })
    }
}
