# Install rules: the headers and a package that find_package(tev) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(tev_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tev)

install(TARGETS tev EXPORT tevTargets)
install(EXPORT tevTargets NAMESPACE tev:: DESTINATION ${tev_package_dir})
install(DIRECTORY include/tev DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(cmake/tevConfig.cmake.in ${PROJECT_BINARY_DIR}/tevConfig.cmake
                              INSTALL_DESTINATION ${tev_package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tevConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/tevConfig.cmake ${PROJECT_BINARY_DIR}/tevConfigVersion.cmake
        DESTINATION ${tev_package_dir})
