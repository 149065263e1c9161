// What a page gets as `window.sdk`: the SDK's own modules, and the stand-ins of this folder where it has none.

export { deleteApp, getApp, getApps, initializeApp } from "../app/src";
export * from "../auth/src/core";
export { getAuth } from "../auth/src/platform_browser";
export { browserLocalPersistence } from "../auth/src/platform_browser/persistence/local_storage";
export { browserSessionPersistence } from "../auth/src/platform_browser/persistence/session_storage";
export { indexedDBLocalPersistence } from "../auth/src/platform_browser/persistence/indexed_db";
export { browserPopupRedirectResolver } from "../auth/src/platform_browser/popup_redirect";
export { PhoneAuthProvider } from "../auth/src/platform_browser/providers/phone";
export { RecaptchaVerifier } from "../auth/src/platform_browser/recaptcha/recaptcha_verifier";
export * from "../auth/src/platform_browser/strategies/phone";
export * from "../auth/src/platform_browser/strategies/popup";
export {
  getRedirectResult, linkWithRedirect, reauthenticateWithRedirect, signInWithRedirect,
} from "../auth/src/platform_browser/strategies/redirect";
export { multiFactor } from "../auth/src/mfa/mfa_user";
export { PhoneMultiFactorGenerator, TotpMultiFactorGenerator, getMultiFactorResolver } from "./factors";
export { ActionCodeOperation, FactorId, OperationType, ProviderId, SignInMethod } from "./values";
