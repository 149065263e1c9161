import Accounts
import Domain
import HTTPTypes
import Projects
import Secrets
import Storage

/// One-time codes of emails: sends them, returns their details, resets a password, signs in with a link.
struct OOBCodeRoutes {
    let accounts: AccountsService

    var routes: [Route] {
        [
            Route(
                .post,
                "/v1/accounts:sendOobCode",
                legacy: "getOobConfirmationCode",
                .client(admin: .init(.manageAccounts, sendAsAdmin), send)
            ),
            Route(.post, "/v1/projects/{project}/accounts:sendOobCode", .admin(.manageAccounts, sendAsAdmin)),
            Route(.post, "/v1/accounts:resetPassword", legacy: "resetPassword", .client(resetPassword)),
            Route(.post, "/v1/accounts:signInWithEmailLink", legacy: "emailLinkSignin", .client(signInWithEmailLink)),
        ]
    }

    /// `requestType` values by number.
    private static let types = [
        "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL",
        "RECOVER_EMAIL", "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
    ]

    // MARK: Sending

    private func send(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        guard try body.bool("returnOobLink") != true else { throw AccountsError.insufficientPermission }
        let caller = call.caller.presenting(try body.captchaResponse(["captchaResp", "captchaResponse"]))
        return Self.sent(try await accounts.sendOOBCode(try Self.request(body), as: .app, caller))
    }

    /// With `returnOobLink`, returns the link and sends no email.
    private func sendAsAdmin(_ call: AdminCall) async throws -> Response {
        let body = try call.json()
        let returnsLink = try body.bool("returnOobLink") ?? false
        let caller = Caller(
            project: call.project,
            apiKey: try call.call.query.value("key") ?? call.call.headers[.apiKey],
            language: call.call.language
        )
        let request = try Self.request(body)
        return Self.sent(try await accounts.sendOOBCode(request, as: .admin(returnsLink: returnsLink), caller))
    }

    private static func request(_ body: WireObject) throws -> SendOOBCode.Request {
        guard let name = try body.choice("requestType", of: types), name != types[0] else {
            throw AccountsError.missingRequestType
        }
        guard let type = OOBCodeType(rawValue: name) else { throw AccountsError.unsupportedRequestType }
        var request = SendOOBCode.Request(type: type)
        request.email = try body.string("email")
        request.newEmail = try body.string("newEmail")
        request.idToken = try body.text("idToken")
        request.continueURL = try body.text("continueUrl")
        request.linkDomain = try body.text("linkDomain")
        request.handlesCodeInApp = try body.bool("canHandleCodeInApp") ?? false
        for platform in AppRegistration.Platform.allCases {
            request.apps[platform] = try body.text(platform.linkMember)
        }
        try refuseWhatOtherTypesRead(request)
        return request
    }

    /// A token would not be verified, and a new email not be used.
    private static func refuseWhatOtherTypesRead(_ request: SendOOBCode.Request) throws(AccountsError) {
        let unread =
            switch request.type {
            case .passwordReset, .emailSignIn: ["idToken", "newEmail"]
            case .verifyEmail: ["newEmail"]
            case .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor: [String]()
            }
        let sent = ["idToken": request.idToken, "newEmail": request.newEmail]
        if let name = unread.first(where: { sent[$0]??.isEmpty == false }) { throw .unexpectedParameter(name) }
    }

    private static func sent(_ result: SendOOBCode.Result) -> Response {
        .json { json in
            json.kind("GetOobConfirmationCodeResponse")
            json.member("email", result.email.canonical)
            json.member("codeSession", result.codeSession?.reveal())
            json.member("oobCode", result.issued?.code.reveal())
            json.member("oobLink", result.issued?.link.reveal())
        }
    }

    // MARK: Using

    private func resetPassword(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        let code = try body.text("oobCode")
        // Google's other way to a new password is `accounts:update` after a sign-in here.
        if code != nil, let other = try ["email", "oldPassword"].first(where: { try body.text($0) != nil }) {
            throw AccountsError.unexpectedParameter("\(other) is not allowed with an out of band code.")
        }
        let result = try await accounts.resetPassword(
            code: code,
            newPassword: try body.string("newPassword").map { Secret($0) },
            call.caller
        )
        let found = result.code
        return .json { json in
            json.kind("ResetPasswordResponse")
            json.member("requestType", found.type.rawValue)
            json.member("email", found.type == .emailSignIn ? nil : found.email.canonical)
            json.member("newEmail", found.newEmail?.canonical)
            switch result.factor {
            case .passkey(let passkey): json.object("mfaInfo") { $0.addedPasskey(passkey) }
            case .secondFactor(let factor): json.object("mfaInfo") { $0.secondFactor(factor, masked: true) }
            case nil: break
            }
        }
    }

    private func signInWithEmailLink(_ call: ClientCall) async throws -> Response {
        let body = try call.json()
        var request = SignInWithEmailLink.Request()
        request.email = try body.string("email")
        request.code = try body.text("oobCode")
        request.idToken = try body.text("idToken")
        let result = try await accounts.signInWithEmailLink(request, call.caller)
        return .json { json in
            json.kind("EmailLinkSigninResponse")
            json.member("localId", result.account.id.rawValue)
            json.member("email", result.account.email?.canonical)
            if result.end.tokens != nil { json.member("isNewUser", result.isNewUser) }
            json.firstFactor(result.end)
        }
    }
}
