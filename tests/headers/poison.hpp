// Names that widely used system headers define as macros; no header of tev may use them.
#pragma once

#define I tev_must_not_use(I)            // <complex.h>
#define B0 tev_must_not_use(B0)          // <termios.h>
#define small tev_must_not_use(small)    // Windows' <rpcndr.h>
#define near tev_must_not_use(near)      // Windows' <windef.h>
#define far tev_must_not_use(far)        // Windows' <windef.h>
#define major tev_must_not_use(major)    // <sys/sysmacros.h>
#define minor tev_must_not_use(minor)    // <sys/sysmacros.h>
#define Bool tev_must_not_use(Bool)      // X11's <Xlib.h>
#define None tev_must_not_use(None)      // X11's <X.h>
#define Status tev_must_not_use(Status)  // X11's <Xlib.h>
