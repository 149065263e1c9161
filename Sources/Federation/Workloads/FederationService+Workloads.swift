import Domain
package import Projects
import StrictJSON

extension FederationService {
    /// The workloads whose own a token is: of the same issuer, audience and claims, and signed by the issuer.
    ///
    /// A token that is no workload's causes no request.
    ///
    /// - Returns: one or more of them.
    /// - Throws: why it is not that of the last one.
    package func verify(
        _ token: WorkloadToken,
        of workloads: [Workload]
    ) async throws(WorkloadTokenError) -> [Workload] {
        var accepted: [Workload] = []
        var refusal = WorkloadTokenError.issuer
        for workload in workloads {
            do throws(WorkloadTokenError) {
                try token.check(for: workload, now: seconds)
                try await checkSignature(of: token, for: workload)
                accepted.append(workload)
            } catch {
                refusal = error
            }
        }
        guard !accepted.isEmpty else { throw refusal }
        return accepted
    }

    private func checkSignature(
        of token: WorkloadToken,
        for workload: Workload
    ) async throws(WorkloadTokenError) {
        do throws(FederationError) {
            let provider = try await platform(of: workload)
            _ = try await verifySignature(of: token.token, by: provider)
        } catch {
            throw .unverified(error)
        }
    }

    private func platform(of workload: Workload) async throws(FederationError) -> ResolvedProvider {
        let client = ProviderConfiguration(provider: "workload", enabled: true, clientID: workload.audience)
        let definition = ProviderDefinition(for: workload)
        guard workload.jwks == nil else {
            return ResolvedProvider(definition: definition, discovery: nil, client: client)
        }
        let discovery = try await discover(definition, issuer: workload.issuer)
        return ResolvedProvider(definition: definition, discovery: discovery, client: client)
    }

    /// Whether a text is a JWK set with at least one key that can verify a token.
    package static func isKeySet(_ text: String) -> Bool {
        guard let document = try? JSONValue(sent: text.utf8) else { return false }
        return ProviderKeySet(document).map { !$0.keys.isEmpty } ?? false
    }

    /// Whether a text can be a workload's issuer: an https URL without a query; http only on this machine, where it is
    /// allowed.
    package static func isIssuer(_ text: String, allowsLoopback: Bool) -> Bool {
        ProviderURL.isAcceptable(text, allowsLoopback: allowsLoopback) && !text.contains("?")
    }
}

extension ProviderDefinition {
    /// A platform that signs tokens of workloads, of which only the keys matter.
    fileprivate init(for workload: Workload) {
        self.init("workload", "workload", .oidc)
        issuers = [workload.issuer]
        discovery = .required
        jwks = workload.jwks
        // Without discovery, the key alone says which algorithm is its own.
        if jwks != nil { idToken.algorithms = Set(SignatureAlgorithm.allCases) }
        // Platforms have no such endpoints, and some put a URN there.
        endpoints = Endpoints(authorization: workload.issuer, token: workload.issuer)
        // A provider that also signs users in may keep its keys elsewhere: Google does.
        endpointHosts = Self.builtIn.values.first { $0.issuers.contains(workload.issuer) }?.endpointHosts ?? []
    }
}
