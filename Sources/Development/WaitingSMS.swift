import Delivery
import Foundation
import Projects
import Secrets
import Storage

/// An SMS that waits in the outbox, as all do in `identity dev`, and whose code is still valid.
struct WaitingSMS {
    let sms: SMS
    let session: String

    /// The waiting SMS of a project, oldest first.
    static func all(in scope: Scope, _ stores: Stores, now: Date) async throws -> [WaitingSMS] {
        var found: [WaitingSMS] = []
        for payload in try await stores.outbox.waiting(SMS.kind, in: scope) {
            guard let sms = try? JSONDecoder().decode(SMS.self, from: Data(payload)), let session = sms.session,
                try await stores.verificationCodes.isLive(session: Secret(session), in: scope, now: now)
            else { continue }
            found.append(WaitingSMS(sms: sms, session: session))
        }
        return found
    }
}
