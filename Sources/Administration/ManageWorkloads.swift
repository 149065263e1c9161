import Federation
package import Projects
import Storage
import struct Foundation.Date

/// The programs on other platforms that get access tokens without a secret.
package struct ManageWorkloads: Sendable {
    let configuration: ConfigurationStore
    /// Whether issuers may have http URLs on loopback.
    let allowsLoopback: Bool

    /// - Parameters:
    ///   - workload: its ID, scopes and end are ignored.
    ///   - grant: its scopes, and its end.
    /// - Throws: ``AdministrationError/invalid(_:)``.
    package func create(_ workload: Workload, _ grant: AdminGrant) async throws -> Workload {
        var workload = workload
        workload.scopes = grant.scopes
        workload.expiresAt = grant.end(from: configuration.now()).map { Int64($0.timeIntervalSince1970) }
        if let problem = problem(with: workload) { throw AdministrationError.invalid(problem) }
        return try await configuration.createWorkload(workload)
    }

    /// Ends the workload, and at once its access tokens.
    ///
    /// - Parameter project: nil for any.
    /// - Throws: ``Storage/ConfigurationError/notFound`` for one that is unknown, another project's or revoked.
    package func revoke(_ id: String, of project: ProjectID? = nil) async throws {
        try await configuration.revokeWorkload(id, of: project)
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
