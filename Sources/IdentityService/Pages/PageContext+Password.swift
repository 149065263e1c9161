import Projects

/// The field for a new password, and its messages.
extension PageContext {
    /// - Parameter lacks: the requirements that the submitted password does not meet; nil if none was submitted.
    func newPassword(_ name: String, _ label: PageText, _ lacks: [PasswordPolicy.Requirement]?) -> HTML {
        let policy = project?.settings.passwordPolicy ?? PasswordPolicy()
        let usual = PasswordPolicy.Requirement.atMost(PasswordPolicy.lengths.upperBound)
        let needs = policy.requirements.filter { $0 != usual }
        let described: HTML = lacks == nil ? "needs" : "problem needs"
        let invalid: HTML? = lacks == nil ? nil : " aria-invalid=\"true\""
        return """
            <label for="password">\(html: html(label))</label>
            <input id="password" name="\(name)" type="password" autocomplete="new-password" required \
            spellcheck="false" autocapitalize="off" aria-describedby="\(html: described)"\(html: invalid)\
            \(html: passwordToggle)>
            <div id="needs" class="hint"><p>\(html: html(.passwordNeeds))</p>
            <ul>\(html: items(needs))</ul></div>
            """
    }

    func passwordAlert(_ lacks: [PasswordPolicy.Requirement]?) -> HTML? {
        lacks.map { lacks in
            """
            <div id="problem" role="alert"><p>\(html: html(.passwordLacks))</p>
            <ul>\(html: items(lacks))</ul></div>
            """
        }
    }

    var leakedPasswordAlert: HTML { "<div id=\"problem\" role=\"alert\"><p>\(html: html(.passwordLeaked))</p></div>" }

    /// The texts for action.js, with which users can show the password.
    var passwordToggle: HTML {
        " data-show=\"\(text(.showPassword))\" data-hide=\"\(text(.hidePassword))\""
    }

    private func items(_ requirements: [PasswordPolicy.Requirement]) -> [HTML] {
        requirements.map { requirement in
            let text =
                switch requirement {
                case .atLeast(let count): html(.needsLength, ["COUNT": String(count)])
                case .atMost(let count): html(.needsAtMost, ["COUNT": String(count)])
                case .lowercase: html(.needsLowercase)
                case .uppercase: html(.needsUppercase)
                case .digit: html(.needsDigit)
                case .symbol: html(.needsSymbol)
                }
            return "<li>\(html: text)</li>"
        }
    }
}
