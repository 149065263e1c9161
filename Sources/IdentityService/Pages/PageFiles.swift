/// The files of the pages, as text.
enum PageFiles {
    static let actionScript = String(decoding: PackageResources.action_js, as: UTF8.self)
    static let passkeyScript = String(decoding: PackageResources.passkeys_js, as: UTF8.self)
    static let handlerScript = String(decoding: PackageResources.handler_js, as: UTF8.self)
    static let iframeScript = String(decoding: PackageResources.iframe_js, as: UTF8.self)
    static let loaderScript = String(decoding: PackageResources.gapi_js, as: UTF8.self)
}
