import Foundation

/// Email and password, and links in emails.
public enum EmailAuthProvider {
    public static let id = "password"

    public static func credential(withEmail email: String, password: String) -> AuthCredential {
        AuthCredential(providerID: id, proof: .password(email: email, password: password))
    }

    /// - Parameters:
    ///   - email: to which the link was sent.
    ///   - link: the link of an email, as the app received it; without `oobCode` the service refuses it.
    public static func credential(withEmail email: String, link: String) -> AuthCredential {
        AuthCredential(providerID: id, proof: .emailLink(email: email, code: code(in: link) ?? ""))
    }

    /// The code stands in the link's query, or in that of the link inside it.
    private static func code(in link: String) -> String? {
        let items = URLComponents(string: link)?.queryItems ?? []
        if let code = items.first(where: { $0.name == "oobCode" })?.value { return code }
        return items.first { $0.name == "link" || $0.name == "deep_link_id" }?.value.flatMap(code)
    }
}

public enum GoogleAuthProvider {
    public static let id = "google.com"

    public static func credential(withIDToken idToken: String, accessToken: String? = nil) -> AuthCredential {
        OAuthProvider.credential(providerID: id, idToken: idToken, accessToken: accessToken)
    }
}

public enum GitHubAuthProvider {
    public static let id = "github.com"

    public static func credential(withToken accessToken: String) -> AuthCredential {
        OAuthProvider.credential(providerID: id, accessToken: accessToken)
    }
}

public enum FacebookAuthProvider {
    public static let id = "facebook.com"

    public static func credential(withAccessToken accessToken: String) -> AuthCredential {
        OAuthProvider.credential(providerID: id, accessToken: accessToken)
    }
}

public enum TwitterAuthProvider {
    public static let id = "twitter.com"

    public static func credential(withToken token: String, secret: String) -> AuthCredential {
        OAuthProvider.credential(providerID: id, accessToken: token, secret: secret)
    }
}
