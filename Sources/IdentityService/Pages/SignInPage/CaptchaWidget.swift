import Projects

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
