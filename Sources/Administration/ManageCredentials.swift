import Federation
package import Projects
package import Secrets
package import Sessions
package import Storage
import struct Foundation.Date

/// Credentials of the admin API of one kind.
package struct ManageCredentials<Credential: AdminCredentialKind>: Sendable {
    let configuration: ConfigurationStore
    /// Whether the issuers of workloads may have http URLs on loopback.
    var allowsLoopback = false

    /// All of a project, or of all projects and of none, including revoked ones.
    package func list(of project: ProjectID? = nil) async throws -> [Listed<Credential>] {
        try await configuration.list(Credential.self, of: project)
    }

    /// Ends it and, at once, its access tokens.
    ///
    /// - Parameter project: nil for any.
    /// - Throws: ``Storage/ConfigurationError/notFound`` for one that is unknown, another project's or revoked.
    package func revoke(_ id: String, of project: ProjectID? = nil) async throws {
        try await configuration.revoke(Credential.self, id, of: project)
    }
}

/// Bearer tokens.
extension ManageCredentials<AdminCredential> {
    /// - Parameter project: the only project that the key can access; nil for all.
    /// - Returns: the token, which is stored nowhere.
    package func create(name: String, in project: ProjectID?, _ grant: AdminGrant) async throws -> Secret {
        try await configuration.createAdminCredential(
            name: name,
            project: project,
            scopes: grant.scopes,
            expiresAt: grant.end(from: configuration.now())
        ).token
    }
}

/// The keys with which back ends sign for their project.
extension ManageCredentials<ServiceAccountKey> {
    /// - Returns: the registered key, and the pair whose private half is stored nowhere.
    /// - Throws: ``AdministrationError/invalid(_:)``.
    package func create(
        name: String,
        in project: ProjectID,
        _ grant: AdminGrant
    ) async throws -> (key: ServiceAccountKey, pair: ServiceAccountKeyPair) {
        guard ServiceAccountKey.isName(name) else {
            throw AdministrationError.invalid(
                "'\(name)' is not a name: 6 to 30 of a-z, 0-9 and -, starting with a letter"
            )
        }
        let pair = try ServiceAccountKeyPair.generate()
        let key = ServiceAccountKey(
            id: pair.id,
            name: name,
            project: project,
            scopes: grant.scopes,
            publicKey: pair.publicKey,
            expiresAt: grant.end(from: configuration.now()).map { Int64($0.timeIntervalSince1970) }
        )
        try await configuration.create(key)
        return (key, pair)
    }
}

/// The programs on other platforms that get access tokens without a secret.
extension ManageCredentials<Workload> {
    /// - Parameters:
    ///   - workload: its ID, scopes and end are ignored.
    ///   - grant: its scopes, and its end.
    /// - Throws: ``AdministrationError/invalid(_:)``.
    package func create(_ workload: Workload, _ grant: AdminGrant) async throws -> Workload {
        var workload = workload
        workload.scopes = grant.scopes
        workload.expiresAt = grant.end(from: configuration.now()).map { Int64($0.timeIntervalSince1970) }
        if let problem = problem(with: workload) { throw AdministrationError.invalid(problem) }
        return try await configuration.create(workload)
    }

    private func problem(with workload: Workload) -> String? {
        let minutes = Workload.maximumTokenLifetime / 60
        if !Self.isLine(workload.name) { return "the name must be 1 to 1024 bytes without control characters" }
        if !FederationService.isIssuer(workload.issuer, allowsLoopback: allowsLoopback) {
            return "the issuer must be an https URL without query and fragment"
        }
        if let keys = workload.jwks, !FederationService.isKeySet(keys) {
            return "the file of keys is not a JWK set with a public RSA, EC or Ed25519 key"
        }
        if !Self.isLine(workload.audience) {
            return "an audience is required: 1 to 1024 bytes without control characters"
        }
        for (name, value) in workload.claims where !Self.isLine(name) || !Self.isLine(value) || value.contains("*") {
            return "the value of the claim '\(name)' must be exact: 1 to 1024 bytes without '*' and control characters"
        }
        if !workload.claims.keys.contains(where: Workload.identifyingClaims.contains) {
            return
                "without one of the claims \(Workload.identifyingClaims.joined(separator: ", ")), everybody's tokens "
                + "of this issuer could be accepted"
        }
        if !(60...Workload.maximumTokenLifetime).contains(workload.tokenLifetime) {
            return "access tokens must be valid for 1 to \(minutes) minutes"
        }
        return nil
    }

    private static func isLine(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
