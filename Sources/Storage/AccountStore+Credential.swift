import Domain
import Federation
import Postgres
import Projects
import Secrets

import struct Foundation.Date

/// What a federated sign-in or link writes of the provider's identity, in the transaction that has locked the account.
extension AccountStore {
    /// Stores the identity, as a new one of the account, in place of another one of its provider, or with new tokens; and
    /// ends what can be used once.
    func apply(_ write: SignInWrite, _ transition: Transition) throws {
        let (scope, identity, transaction) = (write.scope, write.credential.identity, transition.transaction)
        let (before, after) = (transition.before, transition.after)
        let earlier = before.linked.first { $0.provider == identity.provider }
        if let earlier, earlier.subject == identity.subject {
            if let renewal = try renewing(write, of: before.id) { transaction.write(renewal) }
            if let renewal = renewingLink(of: before, write) { transaction.write(renewal) }
            if write.restoresGrant {
                transaction.write(
                    """
                    UPDATE credential_subjects SET revoked_at = NULL
                    WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                        AND provider = \(identity.provider.rawValue) AND subject = \(identity.subject)
                    """
                )
            }
        } else {
            if let earlier, !transition.dropsUnproved {
                let lost = recordDetached(
                    from: before,
                    provider: identity.provider,
                    reason: .emailRecycled,
                    by: identity.emailProof,
                    scope,
                    now: write.now
                )
                for statement in lost { transaction.write(statement) }
                release(subject: earlier.subject, at: earlier.provider, scope, transaction)
            }
            transaction.write(claim(identity, for: after.id, scope))
            transaction.write(
                earlier == nil ? try inserting(write, of: after.id) : try replacing(with: write, of: after.id)
            )
        }
        if let token = write.credential.oneTimeToken {
            transaction.write(
                """
                INSERT INTO used_id_tokens (project, token_hash, expires_at)
                VALUES (\(scope.project.rawValue), \(token.hash), to_timestamp(\(Double(token.expiresAt))))
                """
            )
        }
        if write.credential.nameComesOnce {
            transaction.write(
                """
                DELETE FROM kept_names WHERE project = \(scope.project.rawValue) AND tenant = \(scope.tenant.rawValue)
                    AND provider = \(identity.provider.rawValue) AND subject = \(identity.subject)
                """
            )
        }
        if let notice = write.notice { transaction.write(try telling(notice, scope)) }
        if let handle = write.redeems {
            transaction.write(PendingCredentialStore.redeeming(handle, write, by: after.id))
        }
    }

    private func claim(_ identity: FederatedIdentity, for account: AccountID, _ scope: Scope) -> SQL {
        """
        INSERT INTO credential_subjects (project, tenant, provider, subject, account, issuer)
        VALUES (\(scope.project.rawValue), \(scope.tenant.rawValue), \(identity.provider.rawValue),
            \(identity.subject), \(account.rawValue), \(identity.issuer))
        """
    }

    private func inserting(_ write: SignInWrite, of account: AccountID) throws -> SQL {
        let identity = write.credential.identity
        let sealed = try keyRing.seal(write, account: account)
        return """
            INSERT INTO linked_credentials (project, tenant, account, provider, subject, email,
                \(sql: ProfileColumns.identity.names), email_is_relay, real_user_status, tokens, refresh_token,
                token_client, profile, linked_at, updated_at)
            VALUES (\(write.scope.project.rawValue), \(write.scope.tenant.rawValue), \(account.rawValue),
                \(identity.provider.rawValue), \(identity.subject), \(identity.email?.canonical),
                \(sql: ProfileColumns.identity.values(identity.profile)), \(identity.relayFlag),
                \(identity.realUserStatus.map { Int32($0) }), \(sealed.tokens.access), \(sealed.tokens.refresh),
                \(write.credential.tokens.clientID), \(sealed.profile), \(write.now), \(write.now))
            """
    }

    /// Replaces the old subject with another one of the same provider.
    ///
    /// The row stays, with a new generation, so that a concurrent renewal of the old tokens cannot overwrite the new ones.
    private func replacing(with write: SignInWrite, of account: AccountID) throws -> SQL {
        let identity = write.credential.identity
        let sealed = try keyRing.seal(write, account: account)
        return """
            UPDATE linked_credentials SET subject = \(identity.subject), email = \(identity.email?.canonical),
                \(sql: ProfileColumns.identity.setting(identity.profile)), email_is_relay = \(identity.relayFlag),
                email_forwarding = NULL, real_user_status = \(identity.realUserStatus.map { Int32($0) }),
                tokens = \(sealed.tokens.access), refresh_token = \(sealed.tokens.refresh),
                token_client = \(write.credential.tokens.clientID), refresh_generation = refresh_generation + 1,
                refresh_leased_until = NULL, consent_needed_at = NULL, profile = \(sealed.profile),
                linked_at = \(write.now), updated_at = \(write.now)
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = \(account.rawValue) AND provider = \(identity.provider.rawValue)
            """
    }

    /// Stores the tokens, and a name that comes only once; nil if the sign-in brings neither.
    ///
    /// Some providers return a refresh token only once, so a missing one keeps the old one. The user has just consented, so a
    /// concurrent renewal of the old tokens must not overwrite these.
    private func renewing(_ write: SignInWrite, of account: AccountID) throws -> SQL? {
        let name = write.credential.nameDeliveredOnce
        let tokens: SQL
        if write.keptTokens != nil {
            let sealed = try keyRing.seal(write, account: account)
            tokens = """
                tokens = \(sealed.tokens.access), refresh_token = coalesce(\(sealed.tokens.refresh), refresh_token),
                refresh_generation = refresh_generation + 1, refresh_leased_until = NULL, consent_needed_at = NULL,
                token_client = \(write.credential.tokens.clientID), updated_at = \(write.now),
                """
        } else if name != nil {
            tokens = ""
        } else {
            return nil
        }
        return """
            UPDATE linked_credentials SET \(sql: tokens) display_name = coalesce(\(name), display_name)
            WHERE project = \(write.scope.project.rawValue) AND tenant = \(write.scope.tenant.rawValue)
                AND account = \(account.rawValue) AND provider = \(write.credential.identity.provider.rawValue)
            """
    }
}

extension KeyRing {
    /// What a sign-in stores of its credential.
    func seal(
        _ write: SignInWrite,
        account: AccountID
    ) throws -> (tokens: SealedTokens, profile: [UInt8]) {
        let place = LinkedCredentialPlace(write.scope, account, write.credential.identity.provider)
        return (
            try seal(write.keptTokens, for: place),
            try seal(Array(write.credential.rawUserInfo.utf8), for: place.profile)
        )
    }
}

extension FederatedIdentity {
    /// The value of `email_is_relay`: null for providers without relays.
    var relayFlag: Bool? { emailIsRelay ? true : nil }

    var emailProof: EmailProof { EmailProof(provider: provider, subject: subject) }
}

extension FederatedCredential {
    var nameDeliveredOnce: String? { nameComesOnce ? identity.profile.displayName : nil }
}
