/** Sets the environment variables that the HTTP library reads when loaded. Imported before it, for this effect only. */
import { limits } from '../../limits/service.ts';

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(limits.headerBlockBytesMax);
