extension AuthorizationPage {
    static let style = """
        :root{--bg:#eef1f6;--card:#fff;--text:#1b2333;--soft:#5d6880;--line:#dfe4ee;--hover:#f4f6fb;--accent:#3257d6;\
        --accent-text:#fff;--yes:#e2f4e8;--yes-text:#17663a;--no:#fcefdc;--no-text:#8a4b08}
        @media (prefers-color-scheme:dark){:root{--bg:#10141c;--card:#191f2b;--text:#e8ecf5;--soft:#9aa6bd;--line:#2b3446;\
        --hover:#212939;--accent:#8ea6ff;--accent-text:#10141c;--yes:#173a27;--yes-text:#8fe0b0;--no:#40301a;--no-text:#f3c583}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--bg);color:var(--text);\
        font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
        main{width:100%;max-width:432px;background:var(--card);border:1px solid var(--line);border-radius:20px;\
        padding:32px 24px 20px;box-shadow:0 18px 48px rgba(20,30,60,.10)}
        header{text-align:center;margin-bottom:20px}
        .logo{width:48px;height:48px;margin:0 auto 12px;border-radius:14px;display:grid;place-items:center;\
        background:linear-gradient(140deg,#3257d6,#7a4fd0);color:#fff;font-weight:700;font-size:22px}
        h1{font-size:22px;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em}
        p{margin:0;color:var(--soft)}strong{color:var(--text)}
        ul{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:14px;overflow:hidden}
        ul:empty{display:none}
        li+li{border-top:1px solid var(--line)}
        button{font:inherit;cursor:pointer;border:0;border-radius:10px}
        button:focus-visible,summary:focus-visible,input:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .person{width:100%;display:flex;align-items:center;gap:12px;padding:12px 14px;background:none;color:inherit;\
        text-align:left;border-radius:0}
        .person:hover{background:var(--hover)}.person:focus-visible{outline-offset:-3px}
        .face{flex:none;width:40px;height:40px;border-radius:50%;display:grid;place-items:center;color:#fff;font-weight:600;\
        font-size:14px}
        .hue0{background:#3257d6}.hue1{background:#7a4fd0}.hue2{background:#0e7c86}.hue3{background:#b3446c}\
        .hue4{background:#a8590c}.hue5{background:#2f7d43}
        .who{min-width:0;flex:1;display:grid}.who span{color:var(--soft);font-size:14px;overflow-wrap:anywhere}
        .badge{flex:none;font-size:12px;padding:2px 8px;border-radius:99px;white-space:nowrap}
        .yes{background:var(--yes);color:var(--yes-text)}.no{background:var(--no);color:var(--no-text)}
        @media (max-width:440px){.person{flex-wrap:wrap;row-gap:4px}.who{flex:1 0 60%}.badge{margin-left:52px}}
        details{margin-top:12px;border:1px solid var(--line);border-radius:14px}
        summary{padding:14px;cursor:pointer;border-radius:14px;color:var(--accent);font-weight:600}
        .generate,.other{padding:4px 14px 12px;display:grid;gap:12px}
        label{display:grid;gap:4px;font-size:14px;color:var(--soft)}
        input:not([type=checkbox]){font:inherit;width:100%;min-height:44px;padding:10px 12px;border-radius:10px;\
        border:1px solid var(--line);background:var(--bg);color:var(--text)}
        .check{display:flex;gap:8px;align-items:center;color:var(--text)}
        .check input{width:20px;height:44px;margin:0;accent-color:var(--accent)}
        button:not(.person){min-height:44px}
        .primary{padding:10px 16px;background:var(--accent);color:var(--accent-text);font-weight:600}
        .outlined{padding:9px 16px;background:none;color:var(--accent);border:1px solid var(--line);font-weight:600}
        .outlined:hover{background:var(--hover)}
        .quiet{padding:9px 16px;background:none;color:var(--accent);font-weight:600}.quiet:hover{background:var(--hover)}
        footer{margin-top:12px;text-align:center}footer p{font-size:12px;margin-top:10px}
        code{font-size:12px;background:var(--hover);padding:1px 5px;border-radius:5px}
        """
}
