import Delivery
import Foundation
import Projects
import Secrets
import Storage
import Text

/// An email that waits in the outbox, as all do in `identity dev`, with its code, which is still valid.
struct WaitingMail {
    let mail: Mail
    /// The code as in the link: the database stores only its hash.
    let text: String
    let code: OOBCode

    /// The waiting emails of a project, oldest first.
    static func all(in scope: Scope, _ stores: Stores) async throws -> [WaitingMail] {
        var mails: [WaitingMail] = []
        for payload in try await stores.outbox.waiting(Mail.kind, in: scope) {
            guard let mail = try? JSONDecoder().decode(Mail.self, from: Data(payload)),
                let text = FormFields(URLParts(mail.link)?.query ?? "")["oobCode"],
                let code = try await stores.oobCodes.find(Secret(text), in: scope)?.code
            else { continue }
            mails.append(WaitingMail(mail: mail, text: text, code: code))
        }
        return mails
    }
}
