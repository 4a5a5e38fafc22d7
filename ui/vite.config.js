// Builds the UI into the crate that serves it. File names are fixed, because the program names each file that it embeds.
import { defineConfig } from 'vite';

// The server that `npm run dev` asks, as `mnemal serve --listen` names it.
const server = process.env.MNEMAL_URL ?? 'http://127.0.0.1:14767';
// Where the built files go; the check compares a build in another folder with the committed files.
const outDir = process.env.MNEMAL_UI_OUT ?? '../crates/mnemal-server/ui';

export default defineConfig({
  base: '/ui/',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        chunkFileNames: '[name].js',
        assetFileNames: (asset) => (asset.names?.[0]?.endsWith('.css') ? 'app.css' : '[name][extname]'),
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      // The proxy speaks as a page of the server, so that its rules for origins hold.
      ['/v1', '/health', '/version'].map((path) => [path, { target: server, changeOrigin: true, headers: { origin: server } }]),
    ),
  },
});
