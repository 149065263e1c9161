import { openChromium } from './chromium.mjs';
import { judgeBrowser } from './firebase_web.mjs';

await judgeBrowser('Chromium', openChromium);
