import Delivery
import Domain
import Foundation
import Projects
import Secrets
import Storage
import Text

/// An email that waits in the outbox, as all do in `identity dev` for a day, and whose code is still valid.
struct WaitingMail {
    let mail: Mail
    /// The code as in the link: the database stores only its hash.
    let text: String
    let type: OOBCodeType
    let email: EmailAddress
    let newEmail: EmailAddress?

    /// The waiting emails of a project, oldest first.
    ///
    /// - Parameter limit: the largest number, of the newest; nil for all.
    static func all(in scope: Scope, newest limit: Int? = nil, _ stores: Stores) async throws -> [WaitingMail] {
        let now = stores.configuration.now()
        let waiting = try await stores.outbox.waitingMails(newest: limit, in: scope, now: now)
        let decoder = JSONDecoder()
        return waiting.payloads.compactMap { payload in
            guard let mail = try? decoder.decode(Mail.self, from: Data(payload)),
                let text = FormFields(URLParts(mail.link)?.query ?? "")["oobCode"],
                let code = waiting.codes[SecureHash.sha256(text)], let type = code.type, let email = code.email
            else { return nil }
            return WaitingMail(mail: mail, text: text, type: type, email: email, newEmail: code.newEmail)
        }
    }
}

/// An SMS that waits in the outbox, as all do in `identity dev`, and whose code is still valid.
struct WaitingSMS {
    let sms: SMS
    let session: String

    /// The waiting SMS of a project, oldest first.
    ///
    /// - Parameter limit: the largest number, of the newest; nil for all.
    static func all(in scope: Scope, newest limit: Int? = nil, _ stores: Stores) async throws -> [WaitingSMS] {
        let now = stores.configuration.now()
        let waiting = try await stores.outbox.waitingSMS(newest: limit, in: scope, now: now)
        let decoder = JSONDecoder()
        return waiting.payloads.compactMap { payload in
            guard let sms = try? decoder.decode(SMS.self, from: Data(payload)), let session = sms.session,
                waiting.codes[SecureHash.sha256(session)] != nil
            else { return nil }
            return WaitingSMS(sms: sms, session: session)
        }
    }
}
