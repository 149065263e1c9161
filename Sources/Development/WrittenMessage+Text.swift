import Accounts
import Delivery
import Storage

extension WrittenMessage {
    /// Its recipient, and its link or text.
    var text: String {
        switch self {
        case .mail(let mail, let type):
            let code = mail.code.map { "  or the code \($0)\n" } ?? ""
            return "email to \(mail.to) (\(type.rawValue)):\n  \(mail.link)\n\(code)"
        case .sms(let sms, let project):
            return "SMS to \(sms.to):\n  \(sms.text(of: project))\n"
        }
    }
}
