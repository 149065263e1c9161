// Second factors: of these the wheel has `multiFactor(user)`, every request and the error that a first factor ends in.

import { finalizeEnrollPhoneMfa, finalizeEnrollTotpMfa, startEnrollTotpMfa } from "../auth/src/api/account_management/mfa";
import { finalizeSignInPhoneMfa, finalizeSignInTotpMfa } from "../auth/src/api/authentication/mfa";
import { AuthErrorCode } from "../auth/src/core/errors";
import { UserCredentialImpl } from "../auth/src/core/user/user_credential_impl";
import { _fail } from "../auth/src/core/util/assert";
import { FactorId, MultiFactorSessionType, OperationType } from "./values";

export { MultiFactorSessionType };

export class MultiFactorInfoImpl {
  constructor(readonly factorId, response) {
    this.uid = response.mfaEnrollmentId;
    this.enrollmentTime = new Date(response.enrolledAt).toUTCString();
    this.displayName = response.displayName;
    if (factorId === FactorId.PHONE) this.phoneNumber = response.phoneInfo;
  }

  static _fromServerResponse(auth, response) {
    if ("phoneInfo" in response) return new MultiFactorInfoImpl(FactorId.PHONE, response);
    if ("totpInfo" in response) return new MultiFactorInfoImpl(FactorId.TOTP, response);
    return _fail(auth, AuthErrorCode.INTERNAL_ERROR);
  }
}

export class MultiFactorSessionImpl {
  constructor(readonly type, readonly credential, readonly user = undefined) {}

  static _fromIdtoken(idToken, user) {
    return new MultiFactorSessionImpl(MultiFactorSessionType.ENROLL, idToken, user);
  }

  static _fromMfaPendingCredential(credential) {
    return new MultiFactorSessionImpl(MultiFactorSessionType.SIGN_IN, credential);
  }
}

export class MultiFactorAssertionImpl {
  constructor(readonly factorId, private enroll, private signIn) {}

  _process(auth, session, displayName) {
    return session.type === MultiFactorSessionType.ENROLL
      ? this.enroll(auth, session.credential, displayName)
      : this.signIn(auth, session.credential);
  }
}

export const PhoneMultiFactorGenerator = {
  FACTOR_ID: FactorId.PHONE,
  assertion: credential => {
    const phoneVerificationInfo = credential._makeVerificationRequest();
    return new MultiFactorAssertionImpl(
      FactorId.PHONE,
      (auth, idToken, displayName) => finalizeEnrollPhoneMfa(auth, { idToken, displayName, phoneVerificationInfo }),
      (auth, mfaPendingCredential) => finalizeSignInPhoneMfa(auth, { mfaPendingCredential, phoneVerificationInfo }),
    );
  },
};

export const TotpMultiFactorGenerator = {
  FACTOR_ID: FactorId.TOTP,
  async generateSecret({ user, credential }) {
    const { totpSessionInfo: info } = await startEnrollTotpMfa(user.auth, { idToken: credential, totpEnrollmentInfo: {} });
    return {
      secretKey: info.sharedSecretKey, hashingAlgorithm: info.hashingAlgorithm, codeLength: info.verificationCodeLength,
      codeIntervalSeconds: info.periodSec, enrollmentCompletionDeadline: new Date(info.finalizeEnrollmentTime).toUTCString(),
      sessionInfo: info.sessionInfo,
    };
  },
  assertionForEnrollment: ({ sessionInfo }, verificationCode) =>
    new MultiFactorAssertionImpl(FactorId.TOTP, (auth, idToken, displayName) =>
      finalizeEnrollTotpMfa(auth, { idToken, displayName, totpVerificationInfo: { sessionInfo, verificationCode } }),
    ),
  assertionForSignIn: (mfaEnrollmentId, verificationCode) =>
    new MultiFactorAssertionImpl(FactorId.TOTP, undefined, (auth, mfaPendingCredential) =>
      finalizeSignInTotpMfa(auth, { mfaPendingCredential, mfaEnrollmentId, totpVerificationInfo: { verificationCode } }),
    ),
};

export function getMultiFactorResolver(auth, { customData, user }) {
  const { mfaInfo = [], mfaPendingCredential, ...first } = customData._serverResponse;
  const session = MultiFactorSessionImpl._fromMfaPendingCredential(mfaPendingCredential);
  return {
    session,
    hints: mfaInfo.map(info => MultiFactorInfoImpl._fromServerResponse(auth, info)),
    async resolveSignIn(assertion) {
      const response = { ...first, ...(await assertion._process(auth, session)) };
      if (customData.operationType === OperationType.REAUTHENTICATE)
        return UserCredentialImpl._forOperation(user, OperationType.REAUTHENTICATE, response);
      const credential = await UserCredentialImpl._fromIdTokenResponse(auth, OperationType.SIGN_IN, response);
      await auth._updateCurrentUser(credential.user);
      return credential;
    },
  };
}
