import Accounts
import Domain
import Federation
import HTTPTypes
import Projects
import Secrets

/// The client operations on accounts (`/v1/accounts:…`).
struct ClientAccountRoutes {
    let accounts: AccountsService
    let admin: AdminAccountRoutes

    var routes: [Route] {
        [
            Route(
                .post,
                "/v1/accounts:signInWithIdp",
                legacy: "verifyAssertion",
                refusing: .signInWithIdP,
                .client(signInWithIdP)
            ),
            Route(.post, "/v1/accounts:createAuthUri", legacy: "createAuthUri", .client(createAuthURI)),
            Route(
                .post,
                "/v1/accounts:lookup",
                legacy: "getAccountInfo",
                errors: .plainFailures(.accounts),
                refusing: .lookup,
                .client(admin: .init(.readAccounts, admin.lookUp), lookUp)
            ),
            Route(
                .post,
                "/v1/accounts:update",
                legacy: "setAccountInfo",
                refusing: .update,
                .client(
                    admin: .init(.manageAccounts, admin.update),
                    UpdateAccountRoute(accounts: accounts).callAsFunction
                )
            ),
            Route(
                .post,
                "/v1/accounts:delete",
                legacy: "deleteAccount",
                refusing: .delete,
                .client(admin: .init(.manageAccounts, admin.delete), delete)
            ),
            Route(
                .post,
                "/v1/accounts:signUp",
                legacy: "signupNewUser",
                refusing: .signUp,
                .client(admin: .init(.manageAccounts, admin.create), signUp)
            ),
            Route(
                .post,
                "/v1/accounts:signInWithPassword",
                legacy: "verifyPassword",
                refusing: .signInWithPassword,
                .client(signInWithPassword)
            ),
            Route(
                .post,
                "/v1/accounts:signInWithCustomToken",
                legacy: "verifyCustomToken",
                .client(signInWithCustomToken)
            ),
            Route(.post, "/v1/accounts:signOut", refusing: .sessions, .client(signOut)),
            Route(.post, "/v1/accounts:listSessions", refusing: .sessions, .client(listSessions)),
            Route(.post, "/v1/accounts:providerToken", refusing: .sessions, .client(providerToken)),
        ]
    }

    // MARK: Signing in

    private func signInWithIdP(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        var request = SignInWithIdP.Request()
        request.requestURI = try body.text("requestUri")
        request.postBody = try body.text("postBody")
        request.sessionID = try body.text("sessionId").map { Secret($0) }
        request.pendingToken = try body.text("pendingToken").map { Secret($0) }
        request.idToken = try body.text("idToken")
        request.autoCreate = try body.bool("autoCreate") ?? true
        request.returnIdPCredential = try body.bool("returnIdpCredential") ?? false
        let returnsRefreshToken = try body.bool("returnRefreshToken") ?? false
        var result = try await accounts.signInWithIdP(request, call.caller)
        if !returnsRefreshToken { result.credential.tokens.refreshToken = nil }
        return .json { $0.federatedSignIn(result, in: call.caller.tenant) }
    }

    private func signUp(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        var request = SignUp.Request()
        request.email = try body.string("email")
        request.password = try body.string("password").map { Secret($0) }
        request.displayName = try body.string("displayName")
        request.photoURL = try body.string("photoUrl")
        request.idToken = try body.text("idToken")
        request.secondFactors = try AdminAccountRoutes.secondFactors(body.objects("mfaInfo")).map { factor in
            var factor = factor
            // As in the emulator, a client does not choose it.
            factor.id = nil
            return factor
        }
        let caller = call.caller.presenting(try body.captchaResponse())
        let result = try await accounts.signUp(request, caller)
        return .json { json in
            json.kind("SignupNewUserResponse")
            json.member("localId", result.account.id.rawValue)
            json.member("email", result.account.email?.canonical)
            json.member("displayName", result.account.displayName)
            json.tokens(result.tokens)
        }
    }

    private func signInWithPassword(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let (account, result) = try await accounts.signInWithPassword(
            email: try body.string("email"),
            password: try body.string("password").map { Secret($0) },
            call.caller
        )
        return .json { json in
            json.kind("VerifyPasswordResponse")
            json.member("localId", account.id.rawValue)
            json.member("email", account.email?.canonical)
            json.member("displayName", account.displayName ?? "")
            json.member("profilePicture", account.photoURL)
            json.member("registered", true)
            json.firstFactor(result)
        }
    }

    private func signInWithCustomToken(_ call: ClientCall) async throws -> Response {
        let token = try call.json().string("token").map { Secret($0) }
        // A code of the hosted sign-in page is accepted here too.
        let result =
            accounts.redeemSignInCode.takes(token)
            ? try await accounts.redeemSignInCode(token: token, call.caller)
            : try await accounts.signInWithCustomToken(token: token, call.caller)
        return .json { json in
            json.kind("VerifyCustomTokenResponse")
            json.firstFactor(result.end)
            if result.end.tokens != nil { json.member("isNewUser", result.isNewUser) }
        }
    }

    // MARK: createAuthUri

    private func createAuthURI(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        guard let provider = try body.string("providerId"), !provider.isEmpty else {
            return try await signInMethods(body, call)
        }
        var request = CreateAuthURI.Request(providerID: provider)
        request.continueURI = try body.text("continueUri")
        request.scopes = try (body.string("oauthScope") ?? "").split(separator: " ").map { String($0) }
        request.customParameters = try body.texts("customParameter")
        request.responseType = try body.text("responseType")
        request.sessionID = try body.text("sessionId")
        request.context = try body.text("context")
        request.hostedDomain = try body.text("hostedDomain")
        request.purpose = try Self.purpose(body)
        let started = try await accounts.createAuthURI.startFlow(request, call.caller)
        return .json { json in
            json.kind("CreateAuthUriResponse")
            json.member("authUri", started.authURI)
            json.member("providerId", started.providerID)
            json.member("sessionId", started.sessionID)
            json.member("state", started.state.reveal())
            json.member("nonce", started.nonce?.reveal())
        }
    }

    private func signInMethods(_ body: WireObject, _ call: ClientCall) async throws -> Response {
        let methods = try await accounts.createAuthURI.lookUpMethods(
            email: try body.text("identifier"),
            continueURI: try body.text("continueUri"),
            sessionID: try body.text("sessionId"),
            call.caller
        )
        return .json { json in
            json.kind("CreateAuthUriResponse")
            json.member("allProviders", strings: methods.allProviders)
            json.member("registered", methods.registered)
            json.member("sessionId", methods.sessionID)
            json.member("signinMethods", strings: methods.signInMethods)
        }
    }

    /// `authType`, not part of Firebase: the purpose of the flow, in the terms of the handler page.
    private static func purpose(_ body: WireObject) throws -> CreateAuthURI.Request.Purpose {
        let types = [
            "unknown", "signInViaPopup", "signInViaRedirect", "linkViaPopup", "linkViaRedirect", "reauthViaPopup",
            "reauthViaRedirect",
        ]
        return switch try body.choice("authType", of: types) {
        case "linkViaPopup", "linkViaRedirect": .link
        case "reauthViaPopup", "reauthViaRedirect": .reauthenticate
        default: .signIn
        }
    }

    // MARK: The signed-in account

    private func lookUp(_ call: ClientCall) async throws -> Response {
        let account = try await accounts.lookUp(idToken: try call.json().text("idToken"), call.caller)
        return .json { json in
            json.kind("GetAccountInfoResponse")
            json.array("users") { json in json.object { $0.account(account, for: .client, in: call.caller.tenant) } }
        }
    }

    private func delete(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        try await accounts.deleteAccount(
            idToken: try body.text("idToken"),
            localID: try body.text("localId"),
            call.caller
        )
        return .json { $0.kind("DeleteAccountResponse") }
    }

    /// Ends the current session, or those of `scope`; a `sessionId` alone selects that session.
    private func signOut(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let sessionID = try body.text("sessionId")
        let scope = try body.choice("scope", of: ["current", "others", "all", "session"]).flatMap(SignOut.Scope.init)
        try await accounts.signOut(
            idToken: try body.text("idToken"),
            scope: scope ?? (sessionID == nil ? .current : .session),
            sessionID: sessionID,
            call.caller
        )
        return .json { _ in }
    }

    private func providerToken(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let token = try await accounts.providerToken(
            idToken: try body.text("idToken"),
            provider: try body.string("providerId"),
            call.caller
        )
        return .json { $0.providerToken(token) }
    }

    private func listSessions(_ call: ClientCall) async throws -> Response {
        let sessions = try await accounts.listSessions(idToken: try call.json().text("idToken"), call.caller)
        return .json { $0.sessions(sessions) }
    }
}
