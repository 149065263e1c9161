package import Delivery
package import Projects
package import Storage

/// An email or SMS in the outbox, as the use case that wrote it knows it.
package enum WrittenMessage: Sendable {
    case mail(Mail, OOBCodeType)
    case sms(SMS, Project)
}

extension AccountsService {
    /// How long an email waits in `identity dev`, which sends none, in seconds.
    static let developmentMailLifetime = 86_400.0

    /// Reports the email of a stored code, if it has one.
    func report(_ code: NewOOBCode?) {
        guard let code, let mail = code.mail, !code.isDecoy else { return }
        options.hasWritten(.mail(mail, code.type))
    }
}
