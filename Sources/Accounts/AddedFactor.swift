package import Domain
import Storage

/// What the link in the message about a new second factor or passkey removes.
package enum AddedFactor: Sendable {
    case passkey(Passkey)
    case secondFactor(SecondFactor)
}

extension Account {
    /// What a code removes; nil if the account no longer has it, and for other types of code.
    func addedFactor(of code: OOBCode) -> AddedFactor? {
        guard let id = code.revertedFactor?.enrollment else { return nil }
        if let passkey = passkeys.first(where: { $0.id == id }) { return .passkey(passkey) }
        return secondFactors.first { $0.id == id }.map { AddedFactor.secondFactor($0) }
    }
}
