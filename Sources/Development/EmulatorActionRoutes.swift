import Accounts
import Domain
import HTTPTypes
import IdentityService
import Projects
import Secrets
import Storage
import Text

/// The emulator's `/emulator/action`, the target of email links in `identity dev`.
///
/// Test suites open these links with one GET and read JSON, so the code is applied immediately; `/__/auth/action` is
/// the page that asks first.
struct EmulatorActionRoutes {
    let accounts: AccountsService
    let projectForKey: @Sendable (APIKey) -> Project?

    var routes: [Route] {
        [Route(.get, "/emulator/action", on: .service, errors: .status, .open(open))]
    }

    private static let placeholder = "NEW_PASSWORD_HERE"

    private func open(_ call: Call) async throws -> Response {
        do {
            return try await carryOut(call, call.query)
        } catch {
            let wire = WireError(mapping: error)
            guard wire.status == .badRequest else { throw error }
            let type = (try? call.query.value("mode")).flatMap { OOBCodeType(mode: $0) }
            return refusal(wire.message, type.map(Self.advice))
        }
    }

    private func carryOut(_ call: Call, _ query: FormFields) async throws -> Response {
        guard let key = try query.value("apiKey"), !key.isEmpty else {
            return refusal("The parameter apiKey is missing.", "Add &apiKey=YOUR_API_KEY to the URL; any key will do.")
        }
        guard let code = try query.value("oobCode"), !code.isEmpty else {
            return refusal("The parameter oobCode is missing.", "Add &oobCode=YOUR_OOB_CODE to the URL.")
        }
        guard let project = projectForKey(APIKey(rawValue: key)) else { throw WireError.notFound }
        guard let type = OOBCodeType(mode: try query.value("mode") ?? "") else { return refusal("Invalid mode", nil) }
        let caller = try Caller(
            project: project,
            address: call.device.address,
            subscriber: call.device.subscriber,
            site: call.device.site,
            apiKey: key,
            language: try query.value("lang")
        )
        .entering(TenantID(rawValue: try query.value("tenantId") ?? ""))
        return try await carryOut(type, Secret(code), query, caller)
    }

    private func carryOut(
        _ type: OOBCodeType,
        _ code: Secret,
        _ query: FormFields,
        _ caller: Caller
    ) async throws -> Response {
        let continueURL = try query.value("continueUrl")
        switch type {
        case .emailSignIn:
            let url = try await accounts.followSignInLink(code, continueURL: continueURL, caller)
            return redirect(to: url)
        case .passwordReset:
            let shown = try await accounts.showAction(code.reveal(), as: type, caller)
            let password = try query.value("newPassword") ?? ""
            guard !password.isEmpty, password != Self.placeholder else {
                return refusal(
                    password.isEmpty
                        ? "The parameter newPassword is missing."
                        : "newPassword must be something other than '\(Self.placeholder)'",
                    "To reset the password of \(shown.code.email.canonical), open the URL with a new password.",
                    template: "/emulator/action?mode=resetPassword&oobCode=\(code.reveal())"
                        + "&apiKey=\(PercentEncoding.encode(caller.apiKey ?? ""))"
                        + (caller.tenant == .none ? "" : "&tenantId=\(caller.tenant)")
                        + "&newPassword=\(Self.placeholder)"
                )
            }
            let result = try await accounts.resetPassword(code: code.reveal(), newPassword: Secret(password), caller)
            return try done("The password has been updated.", email: result.code.email, continueURL, caller)
        case .verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor:
            let result = try await accounts.applyOOBCode(code.reveal(), as: type, caller)
            let isChange = type == .verifyAndChangeEmail
            return try done(
                Self.success(of: type),
                email: isChange ? nil : result.account.email,
                newEmail: isChange ? result.newEmail : nil,
                // The emulator does not continue anywhere after these.
                type == .recoverEmail || type == .revertSecondFactor ? nil : continueURL,
                caller
            )
        }
    }

    private func done(
        _ text: String,
        email: EmailAddress?,
        newEmail: String? = nil,
        _ continueURL: String?,
        _ caller: Caller
    ) throws -> Response {
        if let url = accounts.checkContinueURL(continueURL, caller) { return redirect(to: url) }
        return .json { json in
            json.object("authEmulator") { json in
                json.member("success", text)
                json.member("email", email?.canonical)
                json.member("newEmail", newEmail)
            }
        }
    }

    private func redirect(to url: String) -> Response {
        Response(status: .seeOther, headers: [.location: url, .cacheControl: "no-store"])
    }

    private func refusal(_ error: String, _ instructions: String?, template: String? = nil) -> Response {
        .json(.badRequest) { json in
            json.object("authEmulator") { json in
                json.member("error", error)
                json.member("instructions", instructions)
                json.member("urlTemplate", template)
            }
        }
    }

    private static func success(of type: OOBCodeType) -> String {
        switch type {
        case .verifyEmail: "The email has been verified."
        case .verifyAndChangeEmail: "The email has been changed."
        case .recoverEmail: "The email has been reset."
        case .revertSecondFactor: "The second factor has been removed."
        case .passwordReset, .emailSignIn: ""
        }
    }

    private static func advice(for type: OOBCodeType) -> String {
        switch type {
        case .emailSignIn: "To sign in, append &continueUrl=YOUR_APP_URL to the link, or request a new one."
        case .passwordReset: "Request a new link to reset the password."
        case .verifyEmail: "Request a new link to verify the email."
        case .verifyAndChangeEmail: "Request a new link to change the email."
        case .recoverEmail: "Change the email again to get a new link."
        case .revertSecondFactor: "Enroll a second factor again to get a new link."
        }
    }
}
