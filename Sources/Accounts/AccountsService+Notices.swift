import Delivery
import Domain
import Projects
import Storage

extension AccountsService {
    /// The webhook after a sign-in with a provider: about a new account, or about one that changed.
    ///
    /// - Parameter isChanged: whether the account changed although the event does not say so.
    func notice(
        after event: AccountEvent,
        of account: Account,
        isChanged: Bool = false,
        _ caller: Caller
    ) -> WebhookNotice? {
        let type: WebhookType
        switch event {
        case .signedUp: type = .accountCreated
        case .linked, .takenOver: type = .accountUpdated
        case _ where isChanged: type = .accountUpdated
        default: return nil
        }
        guard caller.project.settings.delivery.takes(type) else { return nil }
        return WebhookNotice(type, about: account, of: caller.scope, date: now())
    }
}

extension Caller {
    /// Whether webhooks for new accounts are sent.
    var tellsOfNewAccounts: Bool { project.settings.delivery.takes(.accountCreated) }
}
