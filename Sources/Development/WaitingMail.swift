import Delivery
import Foundation
import Projects
import Secrets
import Storage

/// A mail that waits in the outbox, as all do in `identity dev`, and the code in it, which is good for something yet.
struct WaitingMail {
    let mail: Mail
    /// As the link holds it: the database keeps its hash.
    let text: String
    let code: OOBCode

    /// Those of a project, the oldest first.
    static func all(in scope: Scope, _ stores: Stores) async throws -> [WaitingMail] {
        var mails: [WaitingMail] = []
        for payload in try await stores.outbox.waiting(Mail.kind, in: scope) {
            guard let mail = try? JSONDecoder().decode(Mail.self, from: Data(payload)),
                let items = URLComponents(string: mail.link)?.queryItems,
                let text = items.first(where: { $0.name == "oobCode" })?.value,
                let code = try await stores.oobCodes.find(Secret(text), in: scope)?.code
            else { continue }
            mails.append(WaitingMail(mail: mail, text: text, code: code))
        }
        return mails
    }
}
