import Foundation
import OAuth
import Projects
package import Secrets
import Sessions
import Storage
import Text

/// The code that the hosted sign-in page gives an app: 256 bits, usable once within a minute by the client with the
/// verifier of the app's challenge (RFC 7636).
///
/// Apps send it to `signInWithCustomToken` as `code.verifier`.
enum SignInCode {
    static let prefix = "page_"
    static let lifetime: TimeInterval = 60

    /// What the code is exchanged for; the session is already open.
    struct Content: Codable {
        var refreshToken: String
        var isNewUser: Bool
    }
}

extension SignInPage {
    /// - Returns: the app's URL with the code.
    func issueCode(
        for refreshToken: Secret,
        isNewUser: Bool,
        _ visit: PageVisit,
        _ caller: Caller
    ) async throws -> String {
        let code = Secret(SignInCode.prefix + service.random.handle())
        let content = SignInCode.Content(refreshToken: refreshToken.reveal(), isNewUser: isNewUser)
        try await service.flows.insert(
            [UInt8](JSONEncoder().encode(content)),
            for: .signInCode,
            secret: code,
            boundTo: visit.codeChallenge,
            in: caller.scope,
            now: service.now(),
            lifetime: SignInCode.lifetime
        )
        return visit.continueURL.adding([("signInCode", code.reveal())])
    }
}

extension AccountsService { package var redeemSignInCode: RedeemSignInCode { RedeemSignInCode(service: self) } }

/// Exchanges a code of the hosted sign-in page for the session that was opened there.
package struct RedeemSignInCode: Sendable {
    let service: AccountsService

    /// Whether a custom token is such a code.
    package func takes(_ token: Secret?) -> Bool { token?.reveal().hasPrefix(SignInCode.prefix) ?? false }

    /// - Parameter token: `code.verifier`.
    package func callAsFunction(token: Secret?, _ caller: Caller) async throws -> SignInWithCustomToken.Result {
        let content = try await content(token: token, caller)
        let refresh = Refresh(service: service)
        let tokens = try await refresh(refreshToken: Secret(content.refreshToken), caller).tokens
        return SignInWithCustomToken.Result(end: .signedIn(tokens), isNewUser: content.isNewUser)
    }

    /// What the code stands for, once.
    func content(token: Secret?, _ caller: Caller) async throws -> SignInCode.Content {
        let pieces = (token?.reveal() ?? "").split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard pieces.count == 2, let challenge = CodeChallenge.of(pieces[1]),
            let bytes = try await service.flows.take(
                .signInCode,
                secret: Secret(String(pieces[0])),
                boundTo: challenge,
                in: caller.scope,
                now: service.now()
            )
        else { throw AccountsError.invalidCustomToken(.malformed) }
        return try JSONDecoder().decode(SignInCode.Content.self, from: Data(bytes))
    }
}
