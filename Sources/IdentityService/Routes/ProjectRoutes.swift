import Accounts
import HTTPTypes
import Projects

/// The public configuration of a project.
struct ProjectRoutes {
    var routes: [Route] {
        [
            Route(
                .get,
                "/v1/projects",
                legacy: "getProjectConfig",
                // All but the tenant's change nothing: apps of Cordova send them.
                query: [
                    "tenantId", "androidPackageName", "iosBundleId", "sha1Cert", "returnDynamicLink", "projectNumber",
                    "delegatedProjectNumber", "firebaseAppId",
                ],
                .client(project)
            ),
            Route(.get, "/v2/passwordPolicy", errors: .status, query: ["tenantId"], .client(passwordPolicy)),
            Route(
                .get,
                "/v2/recaptchaConfig",
                errors: .status,
                query: ["tenantId", "clientType", "version"],
                .client(recaptchaConfig)
            ),
        ]
    }

    /// The policy against which SDKs check a new password before they send it.
    private func passwordPolicy(_ call: ClientCall) async throws -> Response {
        let policy = call.caller.project.settings.passwordPolicy
        return .json { json in
            policy.writeStrength(&json)
            json.member("allowedNonAlphanumericCharacters", strings: PasswordPolicy.symbols.map { String($0) })
            json.member("enforcementState", policy.enforcementState)
            json.member("forceUpgradeOnSignin", ifTrue: policy.forcesUpgradeAtSignIn)
            json.member("schemaVersion", number: 1)
        }
    }

    /// No operation requires reCAPTCHA Enterprise, whose script SDKs would load; see ``Projects/CaptchaOperation``.
    private func recaptchaConfig(_ call: ClientCall) async throws -> Response {
        .json { json in
            json.array("recaptchaEnforcementState") { json in
                for provider in ["EMAIL_PASSWORD_PROVIDER", "PHONE_PROVIDER"] {
                    json.object { json in
                        json.member("provider", provider)
                        json.member("enforcementState", "OFF")
                    }
                }
            }
        }
    }

    private func project(_ call: ClientCall) async throws -> Response {
        let project = call.caller.project
        return .json { json in
            json.member("projectId", int64: project.number.rawValue)
            json.member("authorizedDomains", strings: project.settings.authorizedDomains)
            json.member("allowPasswordUser", ifTrue: project.settings.passwordSignIn)
            json.member("enableAnonymousUser", ifTrue: project.settings.anonymousSignIn)
        }
    }
}
