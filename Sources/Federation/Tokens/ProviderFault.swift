import StrictJSON

/// A provider's error, in any of the formats that providers use.
struct ProviderFault: Sendable {
    /// Safe for logs and messages.
    let code: String
    let description: String?

    /// Reads a callback's `error` and `error_description`.
    init(code: String, description: String?) {
        self.code = SafeText.code(code)
        self.description = description.map(SafeText.short)
    }

    /// Reads a token response: `{"error": "invalid_grant"}`, `{"error": {"type": …, "code": 190}}`, `{"ok": false, …}`;
    /// nil if it states no error.
    init?(_ answer: JSONObject?, rules: ProviderDefinition.TokenEndpoint) {
        guard let answer else { return nil }
        let description = answer["error_description"]?.string ?? answer["errorMessage"]?.string
        let stated = rules.errorMembers.compactMap { JSONValue.object(answer)[path: $0] }.first { value in
            value != .string("") && value != .bool(false)
        }
        if let stated {
            let code =
                stated.scalarText ?? ["code", "type", "error"].lazy.compactMap { stated[path: $0]?.scalarText }.first
            self.init(code: code ?? "unknown", description: description ?? stated[path: "message"]?.string)
        } else if let member = rules.okMember, answer[member] != .bool(true) {
            self.init(code: "not_ok", description: description)
        } else {
            return nil
        }
    }

    /// The meaning of the error when a code is exchanged.
    var federationError: FederationError {
        switch code {
        case "invalid_grant", "bad_verification_code", "invalid_code", "code_already_used", "code_expired",
            FacebookFault.badCode, "400":  // Feedly's `errorCode`
            .codeRejected(error: code)
        case "invalid_client", "incorrect_client_credentials", "unauthorized_client", "invalid_client_id",
            "bad_client_secret", "http_401", FacebookFault.unknownClient, FacebookFault.wrongSecret:
            .clientRejected(error: code)
        case "invalid_scope": .scopeRefused(error: code, description: description)
        case "server_error", "temporarily_unavailable", "slow_down": .unavailable(.serverError)
        default: .providerError(error: code, description: description)
        }
    }

    /// The meaning of the error in a callback.
    var callbackError: FederationError {
        switch code {
        case "access_denied", "user_cancelled_authorize", "user_cancelled_login", "user_denied": .cancelled
        case "login_required", "consent_required", "interaction_required", "account_selection_required":
            .interactionRequired(error: code)
        case "invalid_scope": .scopeRefused(error: code, description: description)
        case "server_error", "temporarily_unavailable": .unavailable(.serverError)
        default: .providerError(error: code, description: description)
        }
    }
}
