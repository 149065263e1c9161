// Optional: passkeys, where the browser has them. The page's other ways in need no script.
const passkeys = JSON.parse(document.getElementById('data').textContent);
const entrance = document.getElementById('passkey-entrance');
const passkeyProblem = document.getElementById('passkey-problem');

// The service writes base64, the signals to the browser are in base64url.
const bytes = text => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
const base64 = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const known = list => (list ?? []).map(credential => ({ ...credential, id: bytes(credential.id) }));

// One question at a time: the browser's autofill waits until a button is pressed.
let asking = new AbortController();
const ask = () => {
  asking.abort();
  asking = new AbortController();
  return asking.signal;
};

const send = (name, credential, response) => {
  const form = document.querySelector('form.' + name);
  const id = base64(credential.rawId);
  form.elements.passkey.value = JSON.stringify({ id, rawId: id, type: credential.type, response });
  form.submit();
};

async function use(mediation) {
  const signal = ask();
  const answer = await fetch(passkeys.start, {
    method: 'POST', signal,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      tenantId: passkeys.tenantId, mfaPendingCredential: passkeys.pendingCredential, mfaEnrollmentId: passkeys.enrollment,
    }),
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
  const said = await answer.json();
  const options = (said.passkeyResponseInfo ?? said).credentialRequestOptions;
  const publicKey = { ...options, challenge: bytes(options.challenge), allowCredentials: known(options.allowCredentials) };
  const credential = await navigator.credentials.get({ publicKey, mediation, signal });
  if (signal.aborted) return;
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  send('usePasskey', credential, {
    clientDataJSON: base64(clientDataJSON), authenticatorData: base64(authenticatorData), signature: base64(signature),
    userHandle: userHandle ? base64(userHandle) : '',
  });
}

async function create(mediation) {
  const signal = ask(), options = passkeys.creation;
  const publicKey = {
    ...options, challenge: bytes(options.challenge), user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: known(options.excludeCredentials),
  };
  const credential = await navigator.credentials.create({ publicKey, signal, ...(mediation && { mediation }) });
  const { clientDataJSON, attestationObject } = credential.response;
  send('addPasskey', credential, {
    clientDataJSON: base64(clientDataJSON), attestationObject: base64(attestationObject),
    transports: credential.response.getTransports?.() ?? [],
  });
}

// What is cancelled, refused or not there leads to the other ways.
const pressed = act => async () => {
  passkeyProblem.hidden = true;
  try {
    await act();
  } catch (error) {
    if (error.name !== 'AbortError') passkeyProblem.hidden = false;
  }
};

// Autofill offers passkeys as long as the page is open; a challenge is good for five minutes.
async function offerInAutofill() {
  if (!await PublicKeyCredential.isConditionalMediationAvailable?.()) return;
  const renewal = setInterval(() => use('conditional').catch(() => {}), 240_000);
  addEventListener('pagehide', () => clearInterval(renewal));
  await use('conditional');
}

// Whoever said "not now" is asked again after a month.
const later = 'identity.passkeys.later';
const mayOffer = () => Number(localStorage.getItem(later) ?? 0) < Date.now();

async function start() {
  if (!window.PublicKeyCredential || !navigator.credentials) return;
  if (entrance) entrance.hidden = false;
  for (const field of document.querySelectorAll('input[name=hasPasskeys]')) field.value = mayOffer() ? 'yes' : '';
  document.querySelector('form.later')?.addEventListener('submit', () => {
    localStorage.setItem(later, Date.now() + 30 * 86_400_000);
  });
  document.getElementById('use-passkey')?.addEventListener('click', pressed(use));
  document.getElementById('create-passkey')?.addEventListener('click', pressed(create));
  // A signal that fails keeps nobody from signing in.
  if (passkeys.unknown) PublicKeyCredential.signalUnknownCredential?.(passkeys.unknown).catch(() => {});
  if (passkeys.accepted) PublicKeyCredential.signalAllAcceptedCredentials?.(passkeys.accepted).catch(() => {});
  if (passkeys.isOffer && passkeys.creation && (await PublicKeyCredential.getClientCapabilities?.())?.conditionalCreate) {
    // A password manager that has just filled in the password may create the passkey without a question.
    await create('conditional');
  }
  if (passkeys.start && entrance && !passkeys.pendingCredential) await offerInAutofill();
}
start().catch(() => {});
