package import Federation
package import struct Foundation.Date
package import Domain
import Projects
import Storage

extension AccountsService {
    package var receiveNotification: ReceiveNotification { ReceiveNotification(service: self) }
}

/// Applies a provider's notifications about users who signed in with it.
package struct ReceiveNotification: Sendable {
    let service: AccountsService

    /// - Returns: the response that the provider expects.
    /// - Throws: the problem with a notification that the provider did not send; one about an unknown user, or a
    ///   repeated
    ///   one, is accepted and has no effect.
    package func callAsFunction(
        _ notification: ProviderNotification,
        from provider: ProviderID,
        _ caller: Caller
    ) async throws -> ReceivedNotification.Answer {
        guard let configuration = service.provider(provider, caller) else {
            throw AccountsError.providerNotFound
        }
        let received: ReceivedNotification
        do {
            received = try await service.federation.calling(for: caller.project.id) {
                [federation = service.federation] () async throws(FederationError) in
                try await federation.receive(notification, with: configuration)
            }
        } catch {
            AccountEvent.notificationRefused.log(nil, provider: provider, caller)
            throw AccountsError.federation(error, at: provider, caller)
        }
        for event in received.events { try await carryOut(event, caller) }
        return received.answer
    }

    /// When a deletion that the provider requested was carried out.
    package func deletionDate(code: String, from provider: ProviderID, _ caller: Caller) async throws -> Date? {
        try await service.accounts.deletionDate(event: ProviderEvent.deletionID(code), at: provider, in: caller.scope)
    }

    private func carryOut(_ event: ProviderEvent, _ caller: Caller) async throws {
        let provider = event.provider
        let key = AccountChanges.EventKey(
            provider: provider,
            id: event.id,
            validUntilSignInAfter: event.isOvertakenBySignIn ? event.occurredAt : nil,
            now: service.now()
        )
        guard let account = try await service.accounts.owner(of: event.subject, at: provider, in: caller.scope) else {
            return try await carryOut(key, forNobodyIn: caller)
        }
        let deletes = caller.project.settings.deleteAccountsDeletedAtProvider
        do {
            let changed = try await service.change(account, session: nil, caller) { account, _ in
                var changes = AccountChanges()
                // Unlinked, or linked to another account by now: only the event is remembered.
                let linked = account.linked.first { $0.provider == provider }
                if linked?.subject == event.subject {
                    Self.apply(event, to: account, deletes: deletes, at: service.seconds, &changes)
                }
                changes.event = key
                return changes
            }
            let applied: AccountEvent = changed.account == nil ? .deleted : .notificationApplied
            applied.log(account, provider: provider, caller)
        } catch is RepeatedEvent {
            AccountEvent.notificationRepeated.log(account, provider: provider, caller)
        } catch AccountsError.userNotFound {
            try await carryOut(key, forNobodyIn: caller)
        }
    }

    /// Records an event that concerns no account here.
    ///
    /// If it is sent again, it must not apply to a user who signed up in between. A deletion request is confirmed even
    /// if there was nothing to delete.
    private func carryOut(_ key: AccountChanges.EventKey, forNobodyIn caller: Caller) async throws {
        try await service.accounts.remember(key, in: caller.scope)
        AccountEvent.notificationUnknown.log(nil, provider: key.provider, caller)
    }

    private static func apply(
        _ event: ProviderEvent,
        to account: Account,
        deletes: Bool,
        at seconds: Int64,
        _ changes: inout AccountChanges
    ) {
        let provider = event.provider
        func change(_ kind: AccountChanges.GrantChange.Kind) {
            changes.grants = [.init(provider: provider, kind: kind)]
        }
        switch event.kind {
        case .consentRevoked: change(.withdrawn(at: event.occurredAt, endsSessions: true))
        case .sessionsRevoked: changes.endedSessions = .openedWith(provider)
        case .accountDeleted, .deletionRequested:
            if deletes, account.methods == [provider] {
                changes.deletesAccount = true
            } else {
                changes.unlinked = [provider]
                changes.endedSessions = .openedWith(provider)
            }
        case .accountHijacked:
            change(.blocked(true, since: event.occurredAt))
            // Even if the event arrives after the account was restored: the sessions may be the attacker's, and so may session
            // cookies, which only `validSince` ends.
            changes.validSince = seconds
            changes.endedSessions = .all
        case .accountRestored: change(.blocked(false, since: event.occurredAt))
        case .forwardingStopped: change(.forwarding(false, since: event.occurredAt))
        case .forwardingResumed: change(.forwarding(true, since: event.occurredAt))
        }
    }
}

extension ProviderEvent {
    /// A user who signed in with the provider since has consented again.
    fileprivate var isOvertakenBySignIn: Bool {
        switch kind {
        case .consentRevoked, .sessionsRevoked, .accountDeleted: true
        case .deletionRequested, .accountHijacked, .accountRestored, .forwardingStopped, .forwardingResumed: false
        }
    }
}
