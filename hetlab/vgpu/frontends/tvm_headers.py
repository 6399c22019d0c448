"""The two headers that TVM's CUDA code includes, cut down to what it uses.

NVRTC spends most of a second in the real ones.  TVM takes integer types and a few
traits from them, whose meaning the C++ standard fixes.
"""

from __future__ import annotations

__all__ = ["HEADERS"]

_INTEGERS = """
namespace cuda { namespace std {
typedef signed char int8_t;   typedef unsigned char uint8_t;
typedef short int16_t;        typedef unsigned short uint16_t;
typedef int int32_t;          typedef unsigned int uint32_t;
typedef long long int64_t;    typedef unsigned long long uint64_t;
} }
"""

_TRAITS = """
namespace cuda { namespace std {
template <bool V> struct bool_constant { static constexpr bool value = V; };
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };

template <class A, class B> struct is_same : bool_constant<false> {};
template <class A> struct is_same<A, A> : bool_constant<true> {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;

template <class T> struct __kind { static constexpr int value = 0; };
#define HETLAB_KIND(T, K) template <> struct __kind<T> { static constexpr int value = K; };
HETLAB_KIND(bool, 1)
HETLAB_KIND(unsigned char, 1)
HETLAB_KIND(unsigned short, 1)
HETLAB_KIND(unsigned int, 1)
HETLAB_KIND(unsigned long, 1)
HETLAB_KIND(unsigned long long, 1)
HETLAB_KIND(signed char, 2)
HETLAB_KIND(short, 2)
HETLAB_KIND(int, 2)
HETLAB_KIND(long, 2)
HETLAB_KIND(long long, 2)
HETLAB_KIND(float, 3)
HETLAB_KIND(double, 3)
#undef HETLAB_KIND
template <> struct __kind<char> { static constexpr int value = char(-1) < 0 ? 2 : 1; };
template <class T> struct __of : __kind<typename remove_cv<T>::type> {};

template <class T> struct is_integral
    : bool_constant<__of<T>::value == 1 || __of<T>::value == 2> {};
template <class T> struct is_floating_point : bool_constant<__of<T>::value == 3> {};
template <class T> struct is_signed : bool_constant<(__of<T>::value >= 2)> {};
template <class T> struct is_unsigned : bool_constant<__of<T>::value == 1> {};

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
} }
"""

HEADERS = (("cuda/std/cstdint", _INTEGERS), ("cuda/std/type_traits", _TRAITS))
"""Names and texts, for `compile_cuda_cpp`."""
