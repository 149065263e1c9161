import IdentityService

extension AuthorizationPage {
    static let style =
        Page.baseSheet + """
            body { display: grid; place-items: center; min-height: 100vh; padding: 1rem; }
            main {
              width: 100%; max-width: 27rem; padding: 2rem 1.5rem 1.25rem;
              border: 1px solid var(--line); border-radius: var(--card-radius); background: var(--surface); color: var(--text);
            }
            header { margin-bottom: 1.25rem; text-align: center; }
            .logo {
              display: grid; place-items: center; width: 3rem; height: 3rem; margin: 0 auto .75rem;
              border-radius: var(--card-radius); background: var(--accent); color: var(--on-accent); font-size: 1.5rem; font-weight: 700;
            }
            h1 { margin-bottom: .25rem; }
            p { margin: 0; color: var(--quiet); }
            strong { color: var(--text); }
            ul, details { margin: 0; padding: 0; border: 1px solid var(--line); border-radius: var(--radius); list-style: none; }
            ul { overflow: hidden; }
            ul:empty { display: none; }
            li + li { border-top: 1px solid var(--line); }
            .person {
              display: flex; align-items: center; gap: .75rem; width: 100%; padding: .75rem 1rem;
              border-radius: 0; background: none; color: var(--text); font-weight: 400; text-align: start;
            }
            .person:hover { background: var(--still); text-decoration: none; }
            .person:focus-visible { outline-offset: -3px; }
            .face {
              display: grid; place-items: center; flex: none; width: 2.5rem; height: 2.5rem; border-radius: 50%;
              background: var(--tint); color: var(--accent); font-size: .875rem; font-weight: 600;
            }
            .who { display: grid; flex: 1; min-width: 0; }
            .who span { color: var(--quiet); font-size: .875rem; }
            .badge { flex: none; padding: 0 .5rem; border-radius: 1rem; font-size: .8125rem; white-space: nowrap; }
            .yes { background: var(--good-surface); color: var(--good); }
            .no { background: var(--warning-surface); color: var(--warning); }
            details { margin-top: .75rem; }
            summary { padding: .75rem 1rem; color: var(--accent); font-weight: 600; cursor: pointer; }
            .generate, .other { display: grid; gap: .75rem; padding: .25rem 1rem .75rem; }
            label { margin: 0; }
            .check { display: flex; align-items: center; gap: .75rem; font-weight: 400; }
            .check input { flex: none; width: 1.25rem; margin: 0; accent-color: var(--accent); }
            footer { margin-top: .75rem; text-align: center; }
            footer p { margin-top: .75rem; font-size: .8125rem; }
            @media (max-width: 27rem) {
              .person { flex-wrap: wrap; row-gap: .25rem; }
              .who { flex: 1 0 60%; }
              .badge { margin-inline-start: 3.25rem; }
            }
            """
}
