// The one macro that lets a function run on the host and, when nvcc compiles it, on the device.
#pragma once

#if defined(__CUDACC__)
#define TEV_HOST_DEVICE __host__ __device__
#else
#define TEV_HOST_DEVICE
#endif
