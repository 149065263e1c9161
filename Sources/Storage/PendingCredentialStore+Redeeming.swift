import Domain
import Federation
import Postgres
import Projects
import Secrets

import struct Foundation.Date

/// The end of a pending credential by its first success, in the transaction of the sign-in or link that it resumes.
///
/// All handles for the same proof end together.
extension PendingCredentialStore {
    /// Locks them, in a fixed order.
    static func locking(_ handle: [UInt8], _ write: SignInWrite) -> SQL {
        """
        SELECT handle_hash FROM pending_credentials WHERE \(sql: ofSameProof(handle, write))
        ORDER BY handle_hash FOR UPDATE
        """
    }

    /// A condition: whether it was not redeemed yet, or only a moment ago by the same account.
    ///
    /// The first success is final, whatever the caller read before.
    static func isRedeemable(_ handle: [UInt8], by account: AccountID, _ write: SignInWrite) -> SQL {
        let retries = write.now.addingTimeInterval(-Self.retrySeconds)
        return """
            EXISTS (
                SELECT FROM pending_credentials WHERE \(sql: ofSameProof(handle, write)) AND handle_hash = \(handle)
                    AND (redeemed_at IS NULL OR (redeemed_by = \(account.rawValue) AND redeemed_at >= \(retries)))
            )
            """
    }

    static func redeeming(_ handle: [UInt8], _ write: SignInWrite, by account: AccountID) -> SQL {
        """
        UPDATE pending_credentials SET redeemed_at = coalesce(redeemed_at, \(write.now)),
            redeemed_by = coalesce(redeemed_by, \(account.rawValue))
        WHERE \(sql: ofSameProof(handle, write))
        """
    }

    private static func ofSameProof(_ handle: [UInt8], _ write: SignInWrite) -> SQL {
        let tokens = write.credential.tokens
        return """
            project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND (handle_hash = \(handle) OR id_token_hash = \(tokens.idToken.map { SecureHash.sha256($0) })
                    OR access_token_hash = \(tokens.accessToken.map { SecureHash.sha256($0) }))
                AND provider = \(write.credential.identity.provider.rawValue)
            """
    }
}
