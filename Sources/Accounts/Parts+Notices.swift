import Delivery
import Linking
import Projects
import Storage

extension Parts {
    /// What the project's own endpoint is told after a sign-in with a provider: of a new account, or of one that changed.
    func notice(after event: AccountEvent, of account: Account, _ caller: Caller) -> WebhookNotice? {
        let type: WebhookType
        switch event {
        case .signedUp: type = .accountCreated
        case .linked, .takenOver: type = .accountUpdated
        default: return nil
        }
        guard caller.project.settings.delivery.takes(type) else { return nil }
        return WebhookNotice(type, about: account, of: caller.scope, date: now())
    }
}

extension Caller {
    /// Whether the project's own endpoint is told of new accounts.
    var tellsOfNewAccounts: Bool { project.settings.delivery.takes(.accountCreated) }
}
