import Federation
import Logging
package import Projects
package import Secrets
import Storage

extension AccountsService { package var exchangeToken: ExchangeToken { ExchangeToken(service: self) } }

/// Exchanges a workload's token for an access token of the admin API (RFC 8693).
///
/// The access token represents the workload's row, which is read with each use, so it ends with it. Each token is
/// exchanged once.
package struct ExchangeToken: Sendable {
    let service: AccountsService

    package struct Request: Sendable {
        package var subjectToken: Secret
        /// The ID of a workload; nil if the token is that of only one.
        package var audience: String?
        /// Nil for all of the workload's.
        package var scopes: [String]?

        package init(subjectToken: Secret, audience: String?, scopes: [String]?) {
            self.subjectToken = subjectToken
            self.audience = audience
            self.scopes = scopes
        }
    }

    package struct Result: Sendable {
        package var accessToken: Secret
        /// In seconds.
        package var expiresIn: Int64
        package var scopes: Set<AdminScope>
    }

    /// - Throws: ``TokenExchangeError``.
    package func callAsFunction(_ request: Request) async throws -> Result {
        let token: WorkloadToken
        let workloads: [Workload]
        do throws(WorkloadTokenError) {
            token = try WorkloadToken(request.subjectToken)
            let issuer = token.issuer
            let known = await service.configuration.findingNew(from: nil) { () -> [Workload]? in
                let workloads = service.configuration.snapshot.workloads(of: issuer)
                    .filter { $0.credential.isCurrent(now: service.seconds) }
                return workloads.isEmpty ? nil : workloads
            }
            workloads = try await service.federation.verify(token, of: known ?? [])
        } catch {
            log("\(error)")
            switch error {
            case .unverified(.issuerUnreachable), .unverified(.overloaded): throw TokenExchangeError.issuerUnreachable
            default: throw TokenExchangeError.refused
            }
        }
        // What follows may be said: the caller has proved that the token is its own.
        let named = workloads.filter { request.audience ?? $0.id == $0.id }
        guard let workload = named.first, named.count == 1 else { throw TokenExchangeError.wrongTarget }
        let scopes = try granted(request.scopes, of: workload)
        let lifetime = min(workload.tokenLifetime, workload.expiresAt.map { $0 - service.seconds } ?? .max)
        guard
            try await service.configuration.exchangeToken(token.hash, until: token.endsAt, of: workload, for: scopes)
        else {
            log("workload.used")
            throw TokenExchangeError.refused
        }
        let accessToken = try service.configuration.accessToken(
            for: workload.id,
            scopes: scopes,
            expiresAt: service.seconds + lifetime
        )
        return Result(accessToken: accessToken, expiresIn: lifetime, scopes: scopes)
    }

    private func granted(_ names: [String]?, of workload: Workload) throws(TokenExchangeError) -> Set<AdminScope> {
        guard let names else { return workload.scopes }
        let scopes = Set(names.compactMap { AdminScope(rawValue: $0) })
        guard !scopes.isEmpty, scopes.count == Set(names).count, scopes.isSubset(of: workload.scopes) else {
            throw .wrongScope
        }
        return scopes
    }

    private func log(_ reason: String) {
        Logger.current.notice("Refused a workload's token", metadata: ["reason": "\(reason)"])
    }
}

/// Why a token was not exchanged.
package enum TokenExchangeError: Error, Sendable, Hashable {
    /// The token is no workload's, or was exchanged before; only the log says which.
    case refused
    /// The issuer's keys cannot be read now.
    case issuerUnreachable
    /// The token is not that of the named workload, or is that of several.
    case wrongTarget
    /// A scope that the workload does not have.
    case wrongScope
}
