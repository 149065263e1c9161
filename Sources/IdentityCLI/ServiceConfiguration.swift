import Configuration
import Foundation
import IdentityService
import Logging
import Outbound
import Projects
import Postgres
import Secrets
import Storage
import SystemPackage
import Text

/// The configuration of a node; everything else is a project's setting.
///
/// Read from `--config` (YAML), from the files of `$CREDENTIALS_DIRECTORY`, and from the environment; later sources
/// take precedence. A variable's name is `IDENTITY_` and the key in capitals, so `database.url` is
/// `IDENTITY_DATABASE_URL` and `http.publicURL` is `IDENTITY_HTTP_PUBLIC_URL`; the file is `database-url`.
struct ServiceConfiguration: Sendable {
    /// `database.url` and what belongs to it.
    var database: DatabaseSettings
    /// `database.batches` (default true, false with Citus): whether simultaneous requests share statements.
    var batches: Bool
    /// `http.bind` (default `127.0.0.1:9099`): address and port to listen on.
    var host: String
    var port: Int
    /// `http.tls.certificate` and `http.tls.key` (default none): PEM files for TLS on that address.
    var tls: ServerTLS.Files?
    /// `http.tls.folder` (default none): further certificates for the hosts that they name (``ServerTLS/files(in:)``).
    var tlsFolder: String?
    /// `metrics.bind` (default none): another address and port, only for `/metrics`, `/healthz` and `/readyz`.
    var operations: (host: String, port: Int)?
    /// `http.publicURL`: where browsers reach the service; https, or http on loopback.
    var publicURL: String?
    /// `http.trustedProxies` (default none): addresses or networks whose `X-Forwarded-For` is trusted.
    var trustedProxies: [String]
    /// `rateLimits.{limit}` and `rateLimits.networks`: numbers of limits that count over all projects.
    var limits: DeploymentLimits
    /// `outbound.allow` (default none): allows providers at other than public addresses, `private` (RFC 1918, RFC 4193;
    /// with https) or `loopback` (this machine, also with http).
    var outbound: AddressPolicy
    /// `outbound.authorities` (default none): a PEM file of authorities that outgoing requests trust beside the system's.
    var authorities = OutboundAuthorities()
    /// `mail.smtp.*`; nil without `mail.smtp.host`.
    var mail: MailConfiguration?
    /// `passwords.leaked` (default none): the https URL of a service, for projects that refuse leaked passwords.
    var leakedPasswords: String?
    /// The source of the encryption keys; required by `serve`.
    var encryptionKeys: EncryptionKeys?
    /// `audit.retentionDays` (0…3650, default 400): how long the audit log is kept at least; 0 for ever.
    var auditRetentionDays: Int
    /// `signing.rotationDays` (0…3650, default 90): how long a key signs tokens; 0 for no rotation.
    var rotationDays: Int
    /// `log.level` (default `info`).
    var logLevel: Logger.Level
    /// `log.format` (`json` or `text`, default `json`).
    var logsJSON: Bool

    static let defaultRotationDays = 90

    private static func engine(_ reader: ConfigReader) throws -> DatabaseEngine {
        let name = reader.string(forKey: "database.engine") ?? DatabaseEngine.postgresql.rawValue
        guard let engine = DatabaseEngine(rawValue: name) else {
            throw CommandFailure.configuration("database.engine must be postgresql or citus")
        }
        return engine
    }

    static func load(file: String?) async throws -> ServiceConfiguration {
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(secretsSpecifier: .all).prefixKeys(with: "identity")
        ]
        // systemd's LoadCredential=, or a container's secrets.
        if let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] {
            do {
                providers.append(try await DirectoryFilesProvider(directoryPath: FilePath(folder)))
            } catch {
                throw CommandFailure.configuration("$CREDENTIALS_DIRECTORY cannot be read")
            }
        }
        if let file {
            do {
                providers.append(
                    try await FileProvider<YAMLSnapshot>(
                        parsingOptions: .init(secretsSpecifier: .all),
                        filePath: FilePath(file)
                    )
                )
            } catch {
                throw CommandFailure.configuration("\(file) cannot be read as YAML")
            }
        }
        return try ServiceConfiguration(ConfigReader(providers: providers))
    }

    init(_ reader: ConfigReader) throws {
        guard let url = reader.string(forKey: "database.url", isSecret: true), !url.isEmpty else {
            throw CommandFailure.configuration("database.url is missing (IDENTITY_DATABASE_URL)")
        }
        database = DatabaseSettings(
            url: Secret(url),
            migrationURL: Secret(reader.string(forKey: "database.migrationURL", isSecret: true) ?? url),
            engine: try Self.engine(reader),
            connections: try Self.integer("database.connections", in: 1...256, default: 8, reader),
            prepares: try Self.flag("database.prepares", default: true, reader)
        )
        let isDistributed = database.engine == .citus
        batches = try Self.flag("database.batches", default: !isDistributed, reader)
        guard !batches || !isDistributed else {
            throw CommandFailure.configuration(
                "database.batches must be false with database.engine: citus, which finds the machine of one request only"
            )
        }
        (host, port) = try Self.address("http.bind", reader.string(forKey: "http.bind") ?? "127.0.0.1:9099")
        switch (reader.string(forKey: "http.tls.certificate"), reader.string(forKey: "http.tls.key")) {
        case (nil, nil): tls = nil
        case (let certificate?, let key?): tls = ServerTLS.Files(certificate: certificate, key: key)
        default: throw CommandFailure.configuration("set both http.tls.certificate and http.tls.key")
        }
        tlsFolder = reader.string(forKey: "http.tls.folder")
        guard tlsFolder == nil || tls != nil else {
            throw CommandFailure.configuration("http.tls.folder needs http.tls.certificate and http.tls.key")
        }
        operations = try reader.string(forKey: "metrics.bind").map { try Self.address("metrics.bind", $0) }
        publicURL = try reader.string(forKey: "http.publicURL").map { text in
            guard let url = PublicURL(origin: text) else {
                throw CommandFailure.configuration(
                    "http.publicURL must be https://, or http:// on loopback, a host (in its xn-- form) and perhaps a port"
                )
            }
            return url.text
        }
        trustedProxies = Self.list("http.trustedProxies", reader)
        limits = try Self.limits(reader)
        let allowed = Self.list("outbound.allow", reader)
        guard Set(allowed).isSubset(of: ["private", "loopback"]) else {
            throw CommandFailure.configuration("outbound.allow may contain only private and loopback")
        }
        outbound = AddressPolicy(
            allowsLoopback: allowed.contains("loopback"),
            allowsPrivateNetworks: allowed.contains("private")
        )
        if let file = reader.string(forKey: "outbound.authorities") {
            do { authorities = try OutboundAuthorities(file: file) } catch {
                throw CommandFailure.configuration("outbound.authorities must be a readable PEM file of certificates")
            }
        }
        mail = try MailConfiguration(reader, publicURL: publicURL)
        leakedPasswords = reader.string(forKey: "passwords.leaked")
        guard leakedPasswords.map({ $0.hasPrefix("https://") && URLParts($0)?.host?.isEmpty == false }) ?? true else {
            throw CommandFailure.configuration("passwords.leaked must be an https URL")
        }
        encryptionKeys = try EncryptionKeys(reader)
        auditRetentionDays = try Self.integer("audit.retentionDays", in: 0...3650, default: 400, reader)
        rotationDays = try Self.integer("signing.rotationDays", in: 0...3650, default: Self.defaultRotationDays, reader)
        let level = reader.string(forKey: "log.level") ?? "info"
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw CommandFailure.configuration(
                "log.level must be trace, debug, info, notice, warning, error or critical"
            )
        }
        self.logLevel = logLevel
        let format = reader.string(forKey: "log.format") ?? "json"
        guard ["json", "text"].contains(format) else {
            throw CommandFailure.configuration("log.format must be json or text")
        }
        logsJSON = format == "json"
    }

    /// Maintains the audit log's partitions, with the role that migrates.
    func auditLogPartitions(_ logger: Logger) throws -> AuditLogPartitions {
        AuditLogPartitions(
            retentionDays: auditRetentionDays,
            logger: logger,
            now: { Date() },
            connect: try database.connect(for: .owner, logger)
        )
    }

    /// The keys that encrypt secrets in the database.
    func keyRing() async throws -> KeyRing {
        guard let encryptionKeys else {
            throw CommandFailure.configuration(
                "encryption.keys is missing (IDENTITY_ENCRYPTION_KEYS): create one with `echo k1:$(openssl rand -base64 32)`"
            )
        }
        return try await encryptionKeys.keyRing()
    }

    /// The TLS certificates; nil for plain HTTP.
    func serverTLS(_ logger: Logger) throws -> ServerTLS? {
        do { return try tls.map { try ServerTLS($0, folder: tlsFolder, logger: logger) } } catch let error
            as ServerTLS.Unusable
        {
            throw CommandFailure.configuration("http.tls: \(error)")
        }
    }

    private static func address(_ key: String, _ text: String) throws -> (host: String, port: Int) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon > text.startIndex
        else { throw CommandFailure.configuration("\(key) must be an address and a port, such as 0.0.0.0:9099") }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return (host, port)
    }

    static func integer(
        _ key: String,
        in range: ClosedRange<Int>,
        default value: Int,
        _ reader: ConfigReader
    ) throws -> Int {
        guard let text = reader.string(forKey: ConfigKey(key)) else {
            guard let number = reader.int(forKey: ConfigKey(key)) else { return value }
            return try checked(number, key, range)
        }
        guard let number = Int(text) else { throw CommandFailure.configuration("\(key) must be a number") }
        return try checked(number, key, range)
    }

    private static func checked(_ number: Int, _ key: String, _ range: ClosedRange<Int>) throws -> Int {
        guard range.contains(number) else {
            throw CommandFailure.configuration("\(key) must be between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    private static func limits(_ reader: ConfigReader) throws -> DeploymentLimits {
        var numbers = RateLimitSettings()
        for kind in RateLimitKind.allCases {
            let key = "rateLimits.\(kind.rawValue)"
            guard
                let text = reader.string(forKey: ConfigKey(key)) ?? reader.int(forKey: ConfigKey(key)).map(String.init)
            else { continue }
            guard DeploymentLimits.kinds.contains(kind) else {
                throw CommandFailure.configuration(
                    "\(key) does not count over all projects: set identity.\(key) of a project"
                )
            }
            guard let budget = RateLimitBudget(text, standard: kind.standard) else {
                throw CommandFailure.configuration(
                    "\(key) must be a number, or a number and seconds such as 500/3600, of at most 1000000 and 86400"
                )
            }
            numbers[kind] = budget
        }
        let networks = try list("rateLimits.networks", reader).map { text in
            guard let network = DeploymentLimits.Network(text) else {
                throw CommandFailure.configuration(
                    "rateLimits.networks must contain a network and its limits by address, such as "
                        + "203.0.113.0/24 smsPerAddress=500/3600, not \(text.prefix(80))"
                )
            }
            return network
        }
        return DeploymentLimits(numbers, networks: networks)
    }

    private static func flag(_ key: String, default value: Bool, _ reader: ConfigReader) throws -> Bool {
        if let flag = reader.bool(forKey: ConfigKey(key)) { return flag }
        guard let text = reader.string(forKey: ConfigKey(key)) else { return value }
        throw CommandFailure.configuration("\(key) must be true or false, not \(text.prefix(20))")
    }

    static func list(_ key: String, _ reader: ConfigReader) -> [String] {
        let listed =
            reader.stringArray(forKey: ConfigKey(key), isSecret: true)
            ?? reader.string(forKey: ConfigKey(key), isSecret: true).map { [$0] } ?? []
        return listed.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}
