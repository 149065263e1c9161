import Projects
import Secrets
import Text

/// The widget of a CAPTCHA service, and what the page's policy must allow for it.
struct CaptchaWidget: Sendable {
    /// The element's class, by which the script finds it.
    var name: String
    var script: String
    /// The field that the script adds to the form.
    var field: String
    /// Sources of scripts and frames; of styles and connections too, if the service needs them.
    var scripts: [String]
    var frames: [String]
    var others: [String] = []

    /// What a widget of any service added to a form.
    static func response(in form: FormFields) throws -> Secret? {
        try CaptchaVerifier.Service.allCases.compactMap { try form.value(CaptchaWidget($0).field) }.first.map {
            Secret($0)
        }
    }

    init(_ service: CaptchaVerifier.Service) {
        switch service {
        // developers.cloudflare.com/turnstile/reference/content-security-policy
        case .turnstile:
            name = "cf-turnstile"
            script = "https://challenges.cloudflare.com/turnstile/v0/api.js"
            field = "cf-turnstile-response"
            scripts = ["https://challenges.cloudflare.com"]
            frames = scripts
        // docs.hcaptcha.com/#content-security-policy-settings
        case .hCaptcha:
            name = "h-captcha"
            script = "https://js.hcaptcha.com/1/api.js"
            field = "h-captcha-response"
            scripts = ["https://hcaptcha.com", "https://*.hcaptcha.com"]
            frames = scripts
            others = scripts
        // developers.google.com/recaptcha/docs/faq
        case .reCAPTCHA:
            name = "g-recaptcha"
            script = "https://www.google.com/recaptcha/api.js"
            field = "g-recaptcha-response"
            scripts = ["https://www.google.com/recaptcha/", "https://www.gstatic.com/recaptcha/"]
            frames = ["https://www.google.com/recaptcha/", "https://recaptcha.google.com/recaptcha/"]
        }
    }
}

extension CaptchaVerifier {
    /// The element in a form.
    var element: HTML { "<div class=\"\(CaptchaWidget(service).name)\" data-sitekey=\"\(siteKey)\"></div>\n" }
}
