// Every function of firebase/auth in Node: with connectAuthEmulator in development, and with the fields of the
// configuration that docs/guide/firebase-sdks.md names in production.
//
// usage: Tests/Release/judges/run firebase_node.mjs
import { backend } from './backend.mjs';
import { uncalled, useFirebase } from './firebase_client.mjs';
import { apiKey, isDev, judge, load, project, service } from './lib.mjs';

const { host, protocol } = new URL(service);
const loaded = await load('firebase-node.cjs');
await judge('firebase in Node', { uncalled: uncalled(false) }, calls => useFirebase({
  loaded, calls, backend, isDev, isBrowser: false, emulator: service,
  options: { apiKey, projectId: project, authDomain: host },
  connect(auth) {
    if (isDev) loaded.auth.connectAuthEmulator(auth, service, { disableWarnings: true });
    else Object.assign(auth.config, { apiScheme: protocol.slice(0, -1), apiHost: host, tokenApiHost: host });
  },
}));
