package import Foundation
package import HTTPTypes
package import Projects
import Secrets
import Text

/// Checks a request's credential before anything in its body is used.
package struct RequestAuthenticator: Sendable {
    private let projectForKey: @Sendable (APIKey, _ network: String?) async throws -> Project?
    private let projectNamed: @Sendable (String) async throws -> Project?
    private let unnamedProject: (@Sendable () -> Project?)?
    private let admins: any AdminAuthenticator
    /// Whether a browser's page that sends these headers may act as an admin.
    let trustsOrigin: @Sendable (HTTPFields) -> Bool
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - projectForKey: in `identity dev`, every key names its project.
    ///   - projectNamed: finds a project by ID or number, after the credential check; in `identity dev`, creates it on
    ///     first use.
    ///   - unnamedProject: the project of an admin's request that names none; nil refuses it.
    ///   - trustsOrigin: in `identity dev`, whose owner has a well-known token, only pages of this machine.
    package init(
        projectForKey: @escaping @Sendable (APIKey, _ network: String?) async throws -> Project?,
        projectNamed: @escaping @Sendable (String) async throws -> Project?,
        unnamedProject: (@Sendable () -> Project?)? = nil,
        admins: any AdminAuthenticator,
        trustsOrigin: @escaping @Sendable (HTTPFields) -> Bool,
        now: @escaping @Sendable () -> Date
    ) {
        self.projectForKey = projectForKey
        self.projectNamed = projectNamed
        self.unnamedProject = unnamedProject
        self.admins = admins
        self.trustsOrigin = trustsOrigin
        self.now = now
    }

    // MARK: API keys

    /// The project of an API key, `key=` or `x-goog-api-key`.
    ///
    /// - Parameter query: where the key is, instead of the call's query and headers.
    /// - Throws: 403 without a key; 400 for one that names no project; 503 if the project exists, but cannot be read.
    func project(ofKeyIn call: Call, query: FormFields? = nil, host: Route.Host) async throws -> Project {
        guard let key = try key(query ?? call.query, query == nil ? call.headers : [:]) else {
            throw WireError.missingAPIKey(host)
        }
        return try await project(ofKey: key, call, host)
    }

    private func project(ofKey key: String, _ call: Call, _ host: Route.Host) async throws -> Project {
        guard let project = try await projectForKey(APIKey(rawValue: key), call.device.addressPrefix) else {
            throw WireError.invalidAPIKey(host)
        }
        return project
    }

    /// The project of a client's call.
    ///
    /// - Throws: `INSUFFICIENT_PERMISSION` if the body names another one.
    func project(of call: Call, host: Route.Host) async throws -> Project {
        let project = try await project(ofKeyIn: call, host: host)
        try refuseOtherProject(than: project, in: call, host)
        return project
    }

    /// The project of a client's call from a back end, which has an admin's credential instead of an API key, as Google's
    /// client libraries send it.
    ///
    /// - Throws: 403 if it may not manage accounts; `INSUFFICIENT_PERMISSION` if neither it nor the body names a project.
    func project(of call: Call, forBackEnd admin: AdminCredential, host: Route.Host) async throws -> Project {
        try await project(of: call, for: admin, scope: .manageAccounts, hasBody: host != .secureToken)
    }

    /// - Throws: `INSUFFICIENT_PERMISSION` for a `targetProjectId` other than the project of the path or the key.
    func refuseOtherProject(than project: Project, in call: Call, _ host: Route.Host) throws {
        // The token endpoint has a form for a body, and no such member.
        guard host != .secureToken, call.method == .post, let named = try call.json().text("targetProjectId"),
            named != project.id.rawValue, Int64(named) != project.number.rawValue
        else { return }
        throw WireError("INSUFFICIENT_PERMISSION")
    }

    func key(_ query: FormFields, _ headers: HTTPFields) throws -> String? {
        let key = try query.value("key") ?? headers[.apiKey]
        return key.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: Admins

    /// The admin credential of a bearer header.
    ///
    /// - Throws: 401 if it is missing, unknown, or not a bearer token.
    func admin(_ headers: HTTPFields, hasKey: Bool = false) async throws -> AdminCredential {
        guard let header = headers[.authorization] else {
            throw hasKey ? WireError.keyInsteadOfCredential : WireError.missingCredential
        }
        guard trustsOrigin(headers) else { throw WireError.forbidden }
        guard let token = Self.bearerToken(header), let admin = try await admins.credential(for: token) else {
            throw WireError.invalidCredential
        }
        let expired = admin.expiresAt.map { Double($0) <= now().timeIntervalSince1970 } ?? false
        guard !admin.disabled, !expired else { throw WireError.invalidCredential }
        return admin
    }

    /// The project of an admin's request.
    ///
    /// - Parameter name: ID or number, from the path or the body.
    /// - Throws: 403 if the credential does not cover it, whether or not the project exists; then 404.
    func project(named name: String, for admin: AdminCredential, scope: AdminScope) async throws -> Project {
        guard admin.scopes.contains(scope) else { throw WireError.forbidden }
        if let own = admin.project, own.rawValue != name, Int64(name) == nil { throw WireError.forbidden }
        let project = try await projectNamed(name)
        guard let project else { throw admin.project == nil ? WireError.projectNotFound : WireError.forbidden }
        let seconds = Int64(now().timeIntervalSince1970)
        guard admin.allows(scope, in: project.id, now: seconds) else { throw WireError.forbidden }
        return project
    }

    /// The project of an admin's request without one in its path: that of the API key, `targetProjectId` in the body, or
    /// the credential's own.
    ///
    /// - Parameter hasBody: false for an operation whose body is a form.
    /// - Throws: `INSUFFICIENT_PERMISSION` if there is none.
    func project(
        of call: Call,
        for admin: AdminCredential,
        scope: AdminScope,
        hasBody: Bool = true
    ) async throws -> Project {
        if let key = try key(call.query, call.headers) {
            let project = try await project(ofKey: key, call, .identityToolkit)
            return try await self.project(named: project.id.rawValue, for: admin, scope: scope)
        }
        let named = try hasBody && call.method == .post ? call.json().text("targetProjectId") : nil
        guard let name = named ?? admin.project?.rawValue ?? unnamedProject?()?.id.rawValue else {
            throw WireError("INSUFFICIENT_PERMISSION")
        }
        return try await project(named: name, for: admin, scope: scope)
    }

    static func hasBearer(_ headers: HTTPFields) -> Bool {
        headers[.authorization].flatMap(bearerToken) != nil
    }

    /// The token of `Bearer <token>` (RFC 6750 §2.1); nil for any other text, including two headers joined by a comma.
    static func bearerToken(_ header: String) -> Secret? {
        let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, header.utf8.count <= 8192, String(parts[0])?.lowercased() == "bearer" else {
            return nil
        }
        let token = parts[1].drop { $0 == UInt8(ascii: " ") }
        guard !token.isEmpty, token.allSatisfy(tokenCharacters.contains) else { return nil }
        return String(token).map { Secret($0) }
    }

    /// `b64token` of RFC 6750.
    private static let tokenCharacters: ASCIISet = .unreserved + "+/="
}
