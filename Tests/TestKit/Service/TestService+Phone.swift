package import Delivery
import Foundation
import Projects
import Storage

extension TestService {
    /// The SMS that wait in the outbox, the oldest first.
    package func waitingSMS() async throws -> [SMS] {
        try await stores.outbox.waiting(SMS.kind, in: Scope(project: project.id)).map {
            try JSONDecoder().decode(SMS.self, from: Data($0))
        }
    }

    /// The code of the newest SMS to a number.
    ///
    /// The clock moves on by a millisecond, so that the next one is newer.
    package func smsCode(to number: String) async throws -> String {
        guard let sms = try await waitingSMS().last(where: { $0.to == number }) else {
            throw TestServiceError.unexpected("no SMS to \(number)")
        }
        clock.advance(by: 0.001)
        return sms.code
    }
}
