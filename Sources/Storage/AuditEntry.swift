import Domain
import Postgres
import Projects
import Requests

import struct Foundation.Date

/// An entry of the audit log: who changed what, when, from where and why.
///
/// It is part of the statement that makes the change, so neither exists without the other and no request waits for it.
/// It contains names and IDs, but never values: no secrets, no addresses.
struct AuditEntry: Sendable {
    var action: AuditAction
    /// Nil for the deployment.
    var scope: Scope?
    var account: AccountID?
    /// One entry for each; empty for none.
    var providers: [ProviderID]
    /// The ID of another object: a session, a key, or the other account of a merge.
    var resource: String?
    /// The names of the changed members.
    var changes: [String]
    var date: Date
    var origin: AuditOrigin

    init(
        _ action: AuditAction,
        in scope: Scope?,
        account: AccountID? = nil,
        providers: [ProviderID] = [],
        resource: String? = nil,
        changes: [String] = [],
        at date: Date
    ) {
        self.action = action
        self.scope = scope
        self.account = account
        self.providers = providers
        self.resource = resource
        self.changes = changes
        self.date = date
        origin = RequestContext.current.origin
    }

    /// The part of a statement that writes the entry, once for each row of `source`.
    ///
    /// - Parameters:
    ///   - source: an earlier part, or a list, for an entry of at most one provider; nil writes it once.
    ///   - ownProject: a column of the source that replaces the entry's own value; likewise the others.
    func insertion(
        from source: SQL? = nil,
        project ownProject: SQL? = nil,
        account ownAccount: SQL? = nil,
        resource ownResource: SQL? = nil
    ) -> SQL {
        let project = ownProject ?? "\(scope?.project.rawValue ?? "")"
        let account = ownAccount ?? "\(account?.rawValue)"
        let resource = ownResource ?? "\(resource)"
        let isList = source == nil && providers.count > 1
        let provider: SQL = isList ? "provider" : "\(providers.first?.rawValue)"
        let list: SQL = "unnest(\(providers.map(\.rawValue).sorted())::text[]) n (provider)"
        let rows: SQL? = (isList ? list : source).map { "FROM \(sql: $0)" }
        let values: SQL = """
            \(sql: project), \(date), \(scope?.tenant.rawValue ?? ""), \(sql: account),
                \(sql: provider), \(sql: resource), \(action.rawValue), \(changes), \(origin.actor.description),
                \(origin.addressPrefix), \(origin.request), \(origin.operation), \(origin.reason)
            """
        return """
            INSERT INTO audit_log (project, recorded_at, tenant, account, provider, resource, action, changes, actor,
                address_prefix, request, operation, reason)
            \(sql: rows.map { "SELECT \(sql: values) \(sql: $0)" } ?? "VALUES (\(sql: values))")
            """
    }
}

extension AuditOrigin {
    /// The columns of several origins as arguments of `unnest`, by ``arrayNames``.
    static func arrays(of origins: [AuditOrigin?]) -> SQL {
        """
        \(origins.map { $0?.actor.description ?? "" })::text[], \(origins.map { $0?.request })::text[],
        \(origins.map { $0?.operation })::text[], \(origins.map { $0?.reason })::text[]
        """
    }

    static let arrayNames: SQL = "actor, request, operation, reason"
}
