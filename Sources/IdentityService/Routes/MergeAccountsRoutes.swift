import Accounts
import Domain
import Foundation
import HTTPTypes
import Projects
import Storage

/// `accounts:merge` merges two accounts of one user, and `accounts:undoMerge` undoes it.
struct MergeAccountsRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        let base = "/v1/projects/{project}/accounts"
        return [
            Route(.post, base + ":merge", .admin(.manageAccounts, merge)),
            Route(.post, base + ":undoMerge", .admin(.manageAccounts, undo)),
        ]
    }

    private func merge(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        var request = MergeAccounts.Request()
        request.localID = try body.text("localId")
        request.mergedLocalID = try body.string("mergedLocalId")
        request.dropped = Set(try body.strings("dropProviders").map { ProviderID($0) })
        request.validateOnly = try body.bool("validateOnly") ?? false
        let result = try await accounts.mergeAccounts(request, call.project)
        return .json { json in
            json.object("user") { $0.account(result.account, for: .admin, in: call.tenant) }
            json.merge(result.merge)
            json.member("mergeId", result.id)
            json.member("undoableUntil", int64: result.undoableUntil?.milliseconds)
        }
    }

    private func undo(_ call: AdminCall) async throws -> Response {
        let id = try call.json().string("mergeId")
        let undone = try await accounts.mergeAccounts.undo(id, call.project)
        return .json { json in
            json.object("user") { $0.account(undone.survivor, for: .admin, in: call.tenant) }
            json.object("restoredUser") { $0.account(undone.restored, for: .admin, in: call.tenant) }
            if !undone.left.isEmpty { json.member("leftProviders", strings: undone.left.map(\.rawValue)) }
        }
    }
}

extension JSONWriter {
    /// What moves, what is dropped, and the conflicts.
    fileprivate mutating func merge(_ merge: AccountMerge) {
        member("mergedLocalId", merge.rest.id.rawValue)
        if !merge.moved.isEmpty { member("movedProviders", strings: merge.moved.map(\.rawValue)) }
        if !merge.movedFactors.isEmpty { member("movedSecondFactors", strings: merge.movedFactors.map(\.id)) }
        if !merge.givenUp.isEmpty { member("droppedProviders", strings: merge.givenUp.map(\.rawValue)) }
        member("heldEmail", merge.rest.email?.canonical)
        member("droppedCustomAttributes", merge.rest.customAttributes)
        guard !merge.conflicts.isEmpty else { return }
        array("conflicts") { json in
            for conflict in merge.conflicts {
                json.object { json in
                    json.member("providerId", conflict.method.rawValue)
                    json.member("reason", conflict.reason.rawValue)
                }
            }
        }
    }
}
