import Linking
import Projects
import StrictJSON
import TestKit
import Testing

@Suite("T-A15: the table of sensitive operations")
struct SensitiveOperationTests {
    /// What an app's user or anybody may call that takes nothing of an account and gives none away, and why.
    private static let harmless: [String: String] = [
        "accessToken": "tokens of service accounts",
        "beginProviderTest": "the console's",
        "carryOutAction": "by the code of a mail alone",
        "changeConsoleAccess": "the console's", "changeConsoleAccount": "the console's",
        "changeConsoleProvider": "the console's", "changeConsoleSettings": "the console's",
        "createAuthUri": "begins a flow",
        "createConsoleProvider": "the console's",
        "credentialState": "reads",
        "emulatorDeleteAccounts": "of `identity dev` alone", "emulatorPatchConfig": "of `identity dev` alone",
        "emulatorHandlerCallback": "hands an answer on",
        "finalizeMFASignIn": "is a sign-in",
        "finishProviderTest": "the console's",
        "handlerCallback": "hands an answer on",
        "listSessions": "reads",
        "lookup": "reads",
        "postToRoot": "answers with nothing",
        "providerToken": "reads",
        "receiveDeletionRequest": "signed by the provider",
        "receiveNotification": "signed by the provider",
        "resetPassword": "by the code of a mail alone",
        "revokeToken": "ends a grant at a provider, and nothing of the account",
        "sendVerificationCode": "sends a code",
        "setUpConsole": "the console's",
        "signInToConsole": "the console's",
        "signInWithCustomToken": "is a sign-in",
        "signInWithPassword": "is a sign-in",
        "signOut": "ends sessions, and nothing else",
        "signOutOfConsole": "the console's",
        "startMFASignIn": "sends a code",
        "takeSignInStep": "the page's sign-ins",
        "token": "goes on with a session",
    ]

    @Test("every operation that is no admin's changes nothing of an account, or has a row")
    func hasARowForEach() throws {
        let document = try OpenAPIDocument.ofRepository()
        let rows = Set(SensitiveOperation.allCases.flatMap(\.operations))
        var seen: Set<String> = []
        for operation in document.operations where operation.method != "GET" {
            let description = document.description(of: operation)
            let name = try #require(description?["operationId"]?.text, "\(operation)")
            seen.insert(name)
            let schemes = (description?["security"]?.elements ?? []).flatMap(\.members).map(\.name)
            // Its scope stands in the route table (`OpenAPITests`).
            if schemes == ["bearer"] { continue }
            #expect(rows.contains(name) || Self.harmless[name] != nil, "\(operation) has no row")
            #expect(!rows.contains(name) || Self.harmless[name] == nil, "\(operation) is in both lists")
        }
        #expect(rows.subtracting(seen).isEmpty, "rows of nothing")
        #expect(Set(Self.harmless.keys).subtracting(seen).isEmpty, "exceptions of nothing")
    }

    @Test("what takes the account is sensitive in every project; methods come and go as the project says")
    func followsThePolicy() {
        for operation in SensitiveOperation.allCases {
            for policy in MethodChangePolicy.allCases {
                for hasFactor in [false, true] {
                    let isMethod = operation == .addMethod || operation == .unlinkProvider
                    let expected = !isMethod || policy == .recentSignIn || policy == .secondFactor && hasFactor
                    #expect(
                        operation.isSensitive(under: policy, hasSecondFactor: hasFactor) == expected,
                        "\(operation) \(policy) \(hasFactor)"
                    )
                }
            }
        }
    }
}
