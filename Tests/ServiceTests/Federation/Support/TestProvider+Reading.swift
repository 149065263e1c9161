import Development
import StrictJSON

extension IDTokenChanges {
    static func rewritten(_ rewrite: @escaping @Sendable (String) -> String) -> IDTokenChanges {
        IDTokenChanges(rewrite: rewrite)
    }

    /// Without the removals of what is set: those happen last.
    var setAfterRemove: IDTokenChanges {
        var changes = self
        changes.remove.subtract(set.members.map(\.name))
        return changes
    }
}
