// The SDK's enumerations, which its compiler puts in as plain values, so that no source of them is in the wheel.

export enum ProviderId {
  CUSTOM = "custom",
  FACEBOOK = "facebook.com",
  FIREBASE = "firebase",
  GITHUB = "github.com",
  GOOGLE = "google.com",
  PASSWORD = "password",
  PHONE = "phone",
  TWITTER = "twitter.com",
}

export enum SignInMethod {
  EMAIL_LINK = "emailLink",
  EMAIL_PASSWORD = "password",
  FACEBOOK = "facebook.com",
  GITHUB = "github.com",
  GOOGLE = "google.com",
  PHONE = "phone",
  TWITTER = "twitter.com",
}

export enum OperationType {
  LINK = "link",
  REAUTHENTICATE = "reauthenticate",
  SIGN_IN = "signIn",
}

export enum FactorId {
  PHONE = "phone",
  TOTP = "totp",
}

export enum ActionCodeOperation {
  EMAIL_SIGNIN = "EMAIL_SIGNIN",
  PASSWORD_RESET = "PASSWORD_RESET",
  RECOVER_EMAIL = "RECOVER_EMAIL",
  REVERT_SECOND_FACTOR_ADDITION = "REVERT_SECOND_FACTOR_ADDITION",
  VERIFY_AND_CHANGE_EMAIL = "VERIFY_AND_CHANGE_EMAIL",
  VERIFY_EMAIL = "VERIFY_EMAIL",
}

export enum AuthEventType {
  LINK_VIA_POPUP = "linkViaPopup",
  LINK_VIA_REDIRECT = "linkViaRedirect",
  REAUTH_VIA_POPUP = "reauthViaPopup",
  REAUTH_VIA_REDIRECT = "reauthViaRedirect",
  SIGN_IN_VIA_POPUP = "signInViaPopup",
  SIGN_IN_VIA_REDIRECT = "signInViaRedirect",
  UNKNOWN = "unknown",
  VERIFY_APP = "verifyApp",
}

export enum GapiOutcome {
  ACK = "ACK",
  ERROR = "ERROR",
}

export enum MultiFactorSessionType {
  ENROLL = "enroll",
  SIGN_IN = "signin",
}

export enum _EventType {
  KEY_CHANGED = "keyChanged",
  PING = "ping",
}

export enum _Status {
  ACK = "ack",
  DONE = "done",
}

export enum _TimeoutDuration {
  ACK = 50,
  COMPLETION = 3000,
  LONG_ACK = 800,
}

export enum _MessageError {
  CONNECTION_UNAVAILABLE = "connection_unavailable",
  INVALID_RESPONSE = "invalid_response",
  TIMEOUT = "timeout",
  UNSUPPORTED_EVENT = "unsupported_event",
}

export enum InstantiationMode {
  EAGER = "EAGER",
  EXPLICIT = "EXPLICIT",
  LAZY = "LAZY",
}

export enum ComponentType {
  PRIVATE = "PRIVATE",
  PUBLIC = "PUBLIC",
  VERSION = "VERSION",
}

// Of servers, which a page is not.
export class FirebaseServerAppImpl {}
