// Left out where Firefox ESR is not installed.
import { spawnSync } from 'node:child_process';
import { openFirefox } from './firefox.mjs';
import { judgeBrowser } from './firebase_web.mjs';

if (spawnSync('firefox-esr', ['--version']).status === 0) await judgeBrowser('Firefox', openFirefox);
else console.log('firebase in Firefox: left out, firefox-esr is not installed');
