// Functions of the SDK that its users' build left out, each a thin layer over the SDK's own request, user and credential.

import {
  Endpoint, HttpMethod, RecaptchaClientType, _addTidIfNecessary, _performApiRequest, _performSignInRequest,
} from "../auth/src/api";
import { updateEmailPassword } from "../auth/src/api/account_management/email_and_password";
import * as mails from "../auth/src/api/authentication/email_and_password";
import { ActionCodeURL } from "../auth/src/core/action_code_url";
import { AuthErrorCode } from "../auth/src/core/errors";
import { EmailAuthProvider } from "../auth/src/core/providers/email";
import { _setActionCodeSettingsOnRequest } from "../auth/src/core/strategies/action_code_settings";
import { signInWithCredential } from "../auth/src/core/strategies/credential";
import { _parseToken } from "../auth/src/core/user/id_token_result";
import { _logoutIfInvalidated } from "../auth/src/core/user/invalidation";
import { UserCredentialImpl } from "../auth/src/core/user/user_credential_impl";
import { _assert } from "../auth/src/core/util/assert";
import { _getCurrentUrl, _isHttpOrHttps } from "../auth/src/core/util/location";
import { ActionCodeOperation, OperationType, ProviderId } from "./values";

export const signUp = (auth, request) =>
  _performSignInRequest(auth, HttpMethod.POST, Endpoint.SIGN_UP, _addTidIfNecessary(auth, request));

async function signedIn(auth, response, isAnonymous = false) {
  const credential = await UserCredentialImpl._fromIdTokenResponse(auth, OperationType.SIGN_IN, response, isAnonymous);
  await auth._updateCurrentUser(credential.user);
  return credential;
}

export async function signInAnonymously(auth) {
  await auth._initializationPromise;
  const user = auth.currentUser;
  if (user?.isAnonymous) return new UserCredentialImpl({ user, providerId: null, operationType: OperationType.SIGN_IN });
  return signedIn(auth, await signUp(auth, { returnSecureToken: true }), true);
}

export async function signInWithCustomToken(auth, token) {
  const request = _addTidIfNecessary(auth, { token, returnSecureToken: true });
  return signedIn(auth, await _performSignInRequest(auth, HttpMethod.POST, Endpoint.SIGN_IN_WITH_CUSTOM_TOKEN, request));
}

export async function sendSignInLinkToEmail(auth, email, settings) {
  _assert(settings.handleCodeInApp, auth, AuthErrorCode.ARGUMENT_ERROR);
  const request = { requestType: ActionCodeOperation.EMAIL_SIGNIN, email, clientType: RecaptchaClientType.WEB };
  _setActionCodeSettingsOnRequest(auth, request, settings);
  await mails.sendSignInLinkToEmail(auth, request);
}

export const isSignInWithEmailLink = (auth, link) =>
  ActionCodeURL.parseLink(link)?.operation === ActionCodeOperation.EMAIL_SIGNIN;

export async function signInWithEmailLink(auth, email, link) {
  const credential = EmailAuthProvider.credentialWithLink(email, link || _getCurrentUrl());
  _assert(credential._tenantId === (auth.tenantId || null), auth, AuthErrorCode.TENANT_ID_MISMATCH);
  return signInWithCredential(auth, credential);
}

export async function fetchSignInMethodsForEmail(auth, email) {
  const request = { identifier: email, continueUri: _isHttpOrHttps() ? _getCurrentUrl() : "http://localhost" };
  const full = _addTidIfNecessary(auth, request);
  const response = await _performApiRequest(auth, HttpMethod.POST, Endpoint.CREATE_AUTH_URI, full);
  return response.signinMethods || [];
}

async function sendToUser(user, send, request, settings) {
  const full = { ...request, idToken: await user.getIdToken() };
  if (settings) _setActionCodeSettingsOnRequest(user.auth, full, settings);
  const { email } = await send(user.auth, full);
  if (email !== user.email) await user.reload();
}

export const sendEmailVerification = (user, settings) =>
  sendToUser(user, mails.sendEmailVerification, { requestType: ActionCodeOperation.VERIFY_EMAIL }, settings);

export const verifyBeforeUpdateEmail = (user, newEmail, settings) =>
  sendToUser(
    user, mails.verifyAndChangeEmail, { requestType: ActionCodeOperation.VERIFY_AND_CHANGE_EMAIL, newEmail }, settings,
  );

export async function updateProfile(user, { displayName, photoURL }) {
  if (displayName === undefined && photoURL === undefined) return;
  const request = { idToken: await user.getIdToken(), displayName, photoUrl: photoURL, returnSecureToken: true };
  const response = await _logoutIfInvalidated(
    user, _performApiRequest(user.auth, HttpMethod.POST, Endpoint.SET_ACCOUNT_INFO, request),
  );
  user.displayName = response.displayName || null;
  user.photoURL = response.photoUrl || null;
  const password = user.providerData.find(({ providerId }) => providerId === ProviderId.PASSWORD);
  if (password) Object.assign(password, { displayName: user.displayName, photoURL: user.photoURL });
  await user._updateTokensIfNecessary(response);
}

async function updateEmailOrPassword(user, change) {
  const request = { idToken: await user.getIdToken(), returnSecureToken: true, ...change };
  const response = await _logoutIfInvalidated(user, updateEmailPassword(user.auth, request));
  await user._updateTokensIfNecessary(response, true);
}

export const updateEmail = (user, email) => updateEmailOrPassword(user, { email });
export const updatePassword = (user, password) => updateEmailOrPassword(user, { password });

export const providerDataAsNames = providers => new Set(providers.map(({ providerId }) => providerId).filter(Boolean));

export function getAdditionalUserInfo({ user, _tokenResponse: response }) {
  if (user.isAnonymous && !response) return { providerId: null, isNewUser: false, profile: null };
  if (!response) return null;
  const isNewUser = response.isNewUser || response.kind === "identitytoolkit#SignupNewUserResponse";
  if (!response.providerId) {
    const method = response.idToken && _parseToken(response.idToken)?.firebase?.sign_in_provider;
    if (!method) return null;
    return { isNewUser, providerId: method === "anonymous" || method === ProviderId.CUSTOM ? null : method };
  }
  const profile = response.rawUserInfo ? JSON.parse(response.rawUserInfo) : {};
  const info = { isNewUser, providerId: response.providerId, profile };
  if (response.providerId === ProviderId.GITHUB) return { ...info, username: profile.login ?? null };
  if (response.providerId === ProviderId.TWITTER) return { ...info, username: response.screenName || null };
  return info;
}
